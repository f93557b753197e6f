// Shell completion, made from the same tree of commands that parses them.
#include <iostream>

#include "../commands.h"

namespace crater::cli {
namespace {

std::string words_of(const CLI::App& level) {
    std::string words;
    for (const CLI::App* sub : level.get_subcommands([](const CLI::App*) { return true; }))
        words += sub->get_name() + " ";
    for (const CLI::Option* option : level.get_options())
        if (!option->get_lnames().empty()) words += "--" + option->get_lnames().front() + " ";
    return words;
}

// One case per level: "job submit" -> its flags.
void print_cases(const CLI::App& level, const std::string& path) {
    std::cout << "    \"" << path << "\") words=\"" << words_of(level) << "\" ;;\n";
    for (const CLI::App* sub : level.get_subcommands([](const CLI::App*) { return true; }))
        print_cases(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name());
}

void print_bash(const CLI::App& app) {
    std::cout << "# bash completion of crater: source <(crater completion bash)\n"
                 "_crater() {\n"
                 "  local path=\"\" word words i\n"
                 "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
                 "    word=${COMP_WORDS[i]}\n"
                 "    [[ $word == -* ]] || path=\"${path:+$path }$word\"\n"
                 "  done\n"
                 "  case $path in\n";
    print_cases(app, "");
    std::cout << "    *) words=\"--output --server --token --help\" ;;\n"
                 "  esac\n"
                 "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
                 "}\n"
                 "complete -F _crater crater\n";
}

}  // namespace

void add_completion(CLI::App& app, Context&) {
    auto* completion = app.add_subcommand("completion", "Shell completion: source <(crater completion bash)")
                           ->require_subcommand(1);
    completion->add_subcommand("bash", "For bash")->callback([&app] { print_bash(app); });
    completion->add_subcommand("zsh", "For zsh")->callback([&app] {
        std::cout << "autoload -U +X bashcompinit && bashcompinit\n";
        print_bash(app);
    });
}

}  // namespace crater::cli
