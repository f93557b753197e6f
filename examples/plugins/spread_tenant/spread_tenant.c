/* Spreads one tenant's tasks over nodes: the fewer tasks of the job's tenant a node has, the better it is.
 *
 * spread_tenant.conf may hold one line, `max_per_node = 4`: nodes with so many tasks of the tenant are turned
 * away. */
#include <stdio.h>
#include <stdlib.h>

#include "crater/plugin.h"

struct settings {
    unsigned max_per_node; /* 0 = no limit */
};

static int create(const char* config, void** context, char* error, size_t error_size) {
    unsigned max_per_node = 0;
    const size_t blank = strspn(config, " \t\r\n");
    if (config[blank] != '\0' && sscanf(config, " max_per_node = %u", &max_per_node) != 1) {
        snprintf(error, error_size, "the configuration is one line: max_per_node = NUMBER");
        return 1;
    }
    struct settings* settings = malloc(sizeof *settings);
    if (!settings) return 2;
    settings->max_per_node = max_per_node;
    *context = settings;
    return 0;
}

static void destroy(void* context) { free(context); }

static int filter(void* context, const crater_job_view* job, const crater_node_view* const* nodes,
                  size_t count, uint8_t* keep) {
    const struct settings* settings = context;
    (void)job;
    if (settings->max_per_node == 0) return 0;
    for (size_t i = 0; i < count; ++i) keep[i] = nodes[i]->tenant_tasks < settings->max_per_node;
    return 0;
}

static int score(void* context, const crater_job_view* job, const crater_node_view* const* nodes,
                 size_t count, double* out) {
    (void)context;
    (void)job;
    for (size_t i = 0; i < count; ++i) out[i] = 1.0 / (1.0 + nodes[i]->tenant_tasks);
    return 0;
}

const crater_plugin_descriptor* crater_plugin(void) {
    static const crater_plugin_descriptor descriptor = {
        .abi_version = CRATER_PLUGIN_ABI_VERSION,
        .size = sizeof(crater_plugin_descriptor),
        .name = "spread_tenant",
        .version = "1.0",
        .description = "Spreads one tenant's tasks over nodes.",
        .create = create,
        .destroy = destroy,
        .filter = filter,
        .score = score,
    };
    return &descriptor;
}
