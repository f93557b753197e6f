/* Placement plugins: a shared object that filters and scores nodes for the scheduler. C11, also valid C++.
 *
 * A plugin is one file NAME.so in the scheduler's `plugin_dir`. It exports one function, `crater_plugin`,
 * that returns a static descriptor whose `name` is NAME. A queue uses it when its `plugins` names it. A file
 * NAME.conf beside it, when there is one, is handed to `create` as text. Replacing either file loads the
 * plugin anew within seconds; the old one serves until the new one is ready.
 *
 * Where it runs: in a process of its own (crater-plugin-host), one per plugin, on one thread. Its hooks are
 * called one at a time, `create` before and `destroy` after all of them. It has the rights of the scheduler's
 * user, no environment, /dev/null as standard input and output, and the scheduler's standard error.
 *
 * What it is asked: about the best candidates of one decision (at most some hundreds, usually 64), in one
 * call. The answer counts for this decision only. The placement is what is stored, not what a plugin said, so
 * a plugin need not be deterministic.
 *
 * Jobs of one queue, tenant, priority, request and number of tasks are equals: when the first finds no node,
 * the others are not asked until something changes. So `filter` should not turn on a job's id, name or
 * labels.
 *
 * Time: `filter` and `score` of one decision have `plugin_budget` together (5 ms unless configured), `create`
 * has 5 s. A decision does not wait longer; it goes on without the plugin. Who is late three times is
 * disabled.
 *
 * Faults: a crash, an exit, a hook that returns other than 0, a score that is no number in [0, 1] disable the
 * plugin until its file changes. The reason is shown by `crater plugin list`.
 *
 * Ownership: whatever a hook receives belongs to the host and is valid until the hook returns; no pointer in
 * a view is null unless it says so. What the descriptor points to belongs to the plugin and is never freed.
 *
 * Versions: views and the descriptor begin with their size. Fields are only ever added, at the end. A plugin
 * that reads a field which was not in version 1 asks CRATER_HAS first; a host fills the rest of a shorter
 * descriptor with zeros. Arrays of views are arrays of pointers, so that their elements may grow. What cannot
 * be done that way becomes a new CRATER_PLUGIN_ABI_VERSION, and a host refuses another one than its own.
 */
#ifndef CRATER_PLUGIN_H
#define CRATER_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CRATER_PLUGIN_ABI_VERSION 1u
#define CRATER_PLUGIN_EXPORT __attribute__((visibility("default")))

/* Whether `view`, a pointer to a `type`, came from a host that knows `field`. */
#define CRATER_HAS(view, type, field) ((view)->size >= offsetof(type, field) + sizeof(((type*)0)->field))

#ifdef __cplusplus
extern "C" {
#endif

enum crater_job_type {
    CRATER_JOB_UNSET = 0,
    CRATER_JOB_TRAINING = 1,
    CRATER_JOB_INFERENCE = 2,
    CRATER_JOB_BATCH = 3,
    CRATER_JOB_INTERACTIVE = 4
};

enum crater_interconnect {
    CRATER_INTERCONNECT_ANY = 0,
    CRATER_INTERCONNECT_NVLINK = 1,
    CRATER_INTERCONNECT_SAME_NUMA = 2
};

typedef struct crater_label {
    const char* key;
    const char* value;
} crater_label;

/* The job whose next task is to be placed. Texts are UTF-8, "" when absent. */
typedef struct crater_job_view {
    uint32_t size;
    uint32_t type; /* enum crater_job_type */
    const char* id;
    const char* name;
    const char* tenant; /* names joined by '/' */
    const char* queue;
    const crater_label* labels; /* sorted by key */
    uint32_t label_count;
    int32_t priority;       /* 0 to 1000 */
    uint32_t preemptible;   /* 0 or 1 */
    uint32_t tasks;         /* equal tasks of the job */
    uint32_t tasks_waiting; /* of them, still without a place; this one included */
    /* What each task asks for. 0 = not asked for. */
    uint32_t gpu_cards;        /* cards it touches; 1 for a part of a card */
    int64_t gpu_milli;         /* 1000 = one card; below 1000 a part of one */
    int64_t gpu_memory_mib;    /* of each card; 0 = all of it */
    int64_t gpu_compute_milli; /* hard cap of compute on each card */
    const char* gpu_model;     /* as the user wrote it */
    uint32_t gpu_exclusive;    /* 0 or 1: whole cards */
    uint32_t interconnect;     /* enum crater_interconnect */
    int64_t cpu_milli;         /* 1000 = one core */
    int64_t memory_bytes;
    int64_t memory_bandwidth; /* bytes per second */
    int64_t disk_bytes;
    int64_t disk_iops;
    int64_t disk_bandwidth; /* bytes per second */
    int64_t submitted_ms;   /* since the epoch, UTC */
    int64_t duration_ms;    /* expected run time; 0 = unknown */
} crater_job_view;

/* One card of a node. `free` is what a task could still get, never negative. */
typedef struct crater_card_view {
    uint32_t size;
    int32_t index;     /* as the driver numbers it; not the position in `cards` */
    const char* model; /* "a100-sxm4-80gb" */
    int32_t numa_node; /* -1 = unknown */
    uint32_t tasks;    /* on it */
    uint32_t healthy;  /* 0 or 1 */
    uint32_t taken;    /* 1: held whole by one task */
    int64_t memory_total_mib;
    int64_t memory_free_mib;
    int64_t compute_free_milli; /* 1000 = nothing of it is taken */
    uint64_t nvlink_peers;      /* bit i: a direct NVLink to cards[i] of this node, also through a switch */
    int64_t nvlink_bandwidth;   /* bytes per second, all links of the card, both ways, by its model's data
                                   sheet; 0 = no links, or unknown */
} crater_card_view;

/* A node that could take the task. Amounts are what tasks reserved, not live use. */
typedef struct crater_node_view {
    uint32_t size;
    uint32_t card_count; /* at most 64 */
    const char* name;
    const crater_label* labels; /* sorted by key */
    uint32_t label_count;
    uint32_t simulated;                   /* 0 or 1 */
    const crater_card_view* const* cards; /* null when it has none */
    uint64_t cards_chosen;                /* bit i: the task would get cards[i]; 0 = not said */
    int64_t cpu_total_milli, cpu_free_milli;
    int64_t memory_total_bytes, memory_free_bytes;
    int64_t memory_bandwidth_total, memory_bandwidth_free; /* bytes per second */
    int64_t disk_total_bytes, disk_free_bytes;
    int64_t disk_iops_total, disk_iops_free;
    uint32_t tasks;        /* on it */
    uint32_t tenant_tasks; /* of them, of this job's tenant (not of its descendants) */
    uint32_t job_tasks;    /* of them, of this job */
    uint32_t reserved;
    double score; /* what the queue's own policy thinks of it, in [0, 1] */
} crater_node_view;

/* All hooks may be null, but not both `filter` and `score`. */
typedef struct crater_plugin_descriptor {
    uint32_t abi_version;    /* CRATER_PLUGIN_ABI_VERSION */
    uint32_t size;           /* sizeof(crater_plugin_descriptor) */
    const char* name;        /* that of the file, without .so; at most 63 bytes */
    const char* version;     /* for people; at most 31 bytes */
    const char* description; /* one sentence; may be null */

    /* Once, before anything else. `config` is the text of NAME.conf, "" without one. Sets *context to
     * whatever the other hooks shall get. Other than 0 refuses to serve: then `error` (of `error_size` bytes,
     * filled with zeros) should say why. */
    int (*create)(const char* config, void** context, char* error, size_t error_size);
    /* Once, at the end, unless the process is killed. Not called when `create` refused. */
    void (*destroy)(void* context);

    /* keep[i] = 0 says that the task must not go to nodes[i]; all are 1 when it is called. 0 = well done. */
    int (*filter)(void* context, const crater_job_view* job, const crater_node_view* const* nodes,
                  size_t count, uint8_t* keep);
    /* score[i] = how good nodes[i] is, in [0, 1], higher is better; none may be left out. Called with the
     * nodes that `filter` kept, and not when there is none. 0 = well done. */
    int (*score)(void* context, const crater_job_view* job, const crater_node_view* const* nodes,
                 size_t count, double* score);
} crater_plugin_descriptor;

/* What a plugin exports. Called once. */
CRATER_PLUGIN_EXPORT const crater_plugin_descriptor* crater_plugin(void);

/* The value of a label; null when it is not there. */
static inline const char* crater_label_value(const crater_label* labels, uint32_t count, const char* key) {
    for (uint32_t i = 0; i < count; ++i)
        if (strcmp(labels[i].key, key) == 0) return labels[i].value;
    return NULL;
}

#ifdef __cplusplus
}
#endif

#endif /* CRATER_PLUGIN_H */
