// Small things for a program without a C++ runtime: bounded text, whole reads and writes, numbers.
#pragma once

#include <cstdarg>
#include <cstddef>

namespace shim {

constexpr std::size_t path_max = 4096;

// Text of bounded length; what does not fit is cut.
template <std::size_t N>
struct Text {
    char data[N];
    Text() { data[0] = 0; }
    __attribute__((format(printf, 2, 3))) explicit Text(const char* format, ...) {
        va_list list;
        va_start(list, format);
        set(format, list);
        va_end(list);
    }
    void set(const char* format, va_list list);
    operator const char*() const { return data; }
};
void print(char* out, std::size_t size, const char* format, va_list list);
template <std::size_t N>
void Text<N>::set(const char* format, va_list list) {
    print(data, N, format, list);
}
using Path = Text<path_max>;
using Message = Text<1024>;

// A NULL-terminated list that grows.
template <class T>
struct List {
    T* items = nullptr;
    std::size_t count = 0, room = 0;
    void add(T item);
};
void* grow(void* items, std::size_t bytes);
template <class T>
void List<T>::add(T item) {
    if (count + 1 >= room) {
        room = room ? room * 2 : 16;
        items = static_cast<T*>(grow(items, room * sizeof(T)));
    }
    items[count++] = item;
    items[count] = T{};
}

// The file with a NUL behind it, or nullptr with errno.
char* read_file(const char* path, std::size_t* size);
bool write_text(const char* path, const char* text);  // into a file that is there
bool write_all(int fd, const void* data, std::size_t size);
// Temp file and rename: there in full or not at all; with `durable` also after a crash of the machine.
bool write_file(const char* folder, const char* name, const char* text, bool durable);
long long number(const char* text);
long long now_ms();     // since the epoch
long long uptime_ms();  // never jumps; counts sleep of the machine
bool starts_with(const char* text, const char* prefix);

}  // namespace shim
