// What one commit changed, as the read model takes it. Built on the scheduler's loop.
#pragma once

#include "crater/scheduler/read_model.h"

namespace crater::scheduler {

struct NodeEntry {
    NodeRowPtr row;
    std::shared_ptr<const NodeInventory> inventory;
    std::optional<NodeSample> sample;
};

struct ReadModel::Update {
    store::Revision revision = 0;  // 0 = as before
    std::string state_hash;        // of the engine at `revision`; empty = as before
    std::vector<JobRecordPtr> jobs;
    std::vector<std::string> removed_jobs;
    std::vector<NodeEntry> nodes;
    std::vector<std::string> removed_nodes;
    std::vector<api::QueueView> queues;
    std::vector<std::pair<Tenant, api::QuotaView>> tenants;
    std::vector<Token> tokens;
    std::vector<std::string> removed_tokens;
    std::optional<std::vector<api::Problem>> problems;
    std::optional<std::vector<engine::FreeSlice>> free;
    std::optional<std::string> cluster_name;
    std::optional<bool> verified;
    Instant now;

    bool empty() const {
        return jobs.empty() && removed_jobs.empty() && nodes.empty() && removed_nodes.empty() &&
               queues.empty() && tenants.empty() && tokens.empty() && removed_tokens.empty() && !problems &&
               !free && !cluster_name && !verified;
    }
};

}  // namespace crater::scheduler
