#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_text(char* out, size_t size, const char* value) { snprintf(out, size, "%s", value); }

static void set_key(struct card* card, const char* key, const char* value) {
    const unsigned long long number = strtoull(value, NULL, 10);
    if (!strcmp(key, "name")) set_text(card->name, sizeof card->name, value);
    if (!strcmp(key, "uuid")) set_text(card->uuid, sizeof card->uuid, value);
    if (!strcmp(key, "nvlink")) set_text(card->nvlink, sizeof card->nvlink, value);
    if (!strcmp(key, "pci")) sscanf(value, "%x:%x:%x", &card->domain, &card->bus, &card->device);
    if (!strcmp(key, "cc")) sscanf(value, "%d.%d", &card->cc_major, &card->cc_minor);
    if (!strcmp(key, "memory_mib")) card->memory_mib = number;
    if (!strcmp(key, "used_mib")) card->used_mib = number;
    if (!strcmp(key, "ecc")) card->ecc = number;
    if (!strcmp(key, "utilization")) card->utilization = (unsigned)number;
    if (!strcmp(key, "temperature")) card->temperature = (unsigned)number;
    if (!strcmp(key, "power_mw")) card->power_mw = (unsigned)number;
    if (!strcmp(key, "cuda_cores")) card->cuda_cores = (unsigned)number;
    if (!strcmp(key, "bus_width")) card->bus_width = (unsigned)number;
    if (!strcmp(key, "memory_clock")) card->memory_clock = (unsigned)number;
    if (!strcmp(key, "xid")) card->xid = (unsigned)number;
    if (!strcmp(key, "mig")) card->mig = (int)number;
    if (!strcmp(key, "lost")) card->lost = (int)number;
    if (!strcmp(key, "remap_pending")) card->remap_pending = (int)number;
    if (!strcmp(key, "remap_failed")) card->remap_failed = (int)number;
}

/* key=value or key="several words", one after the other. */
static void read_keys(struct card* card, char* text) {
    while (*text) {
        text += strspn(text, " \t\r\n");
        char* equals = strchr(text, '=');
        if (!equals || *text == '#') return;
        *equals = '\0';
        char* value = equals + 1;
        char* end = *value == '"' ? strchr(++value, '"') : value + strcspn(value, " \t\r\n");
        if (!end) return;
        const int more = *end != '\0';
        *end = '\0';
        set_key(card, text, value);
        text = end + more;
    }
}

static void add_card(struct state* out, const struct card* model) {
    if (out->count >= CARDS_MAX) return;
    struct card* card = &out->cards[out->count];
    *card = *model;
    if (!card->uuid[0])
        snprintf(card->uuid, sizeof card->uuid, "GPU-fa4e0000-0000-0000-0000-%012d", out->count);
    if (!card->bus) card->bus = 0x10 + (unsigned)out->count;
    ++out->count;
}

int read_state(struct state* out) {
    memset(out, 0, sizeof *out);
    const char* path = getenv("CRATER_FAKE_NVML");
    FILE* file = path ? fopen(path, "r") : NULL;
    if (!file) return 0;
    char line[1024];
    struct card last = {.name = "NVIDIA A100-PCIE-40GB", .memory_mib = 40960, .cc_major = 8};
    while (fgets(line, sizeof line, file)) {
        int count = 0;
        if (!strncmp(line, "card", 4)) {
            const struct card fresh = {.name = "NVIDIA A100-PCIE-40GB", .memory_mib = 40960, .cc_major = 8};
            last = fresh;
            read_keys(&last, line + 4);
            add_card(out, &last);
            last.uuid[0] = '\0';
            last.bus = 0;
        } else if (sscanf(line, "count %d", &count) == 1) {
            while (out->count < count && out->count < CARDS_MAX) add_card(out, &last);
        }
    }
    fclose(file);
    return 1;
}
