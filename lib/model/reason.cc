#include <array>

#include "crater/base/error.h"
#include "crater/model/state.h"

namespace crater {
namespace {

constexpr ReasonRow reason_rows[] = {
    {Reason::none, "none", "", ""},
    {Reason::submitted, "submitted", "The job was accepted.", "作业已被接收。"},
    {Reason::waiting_for_resources, "waiting_for_resources", "No node has enough free for it now.",
     "目前没有节点有足够的空闲资源。"},
    {Reason::waiting_for_gpu, "waiting_for_gpu", "No node has the GPUs it asks for free now.",
     "目前没有节点有其所需的空闲 GPU。"},
    {Reason::waiting_for_cpu, "waiting_for_cpu", "No node has the cores it asks for free now.",
     "目前没有节点有其所需的空闲 CPU 核。"},
    {Reason::waiting_for_memory, "waiting_for_memory", "No node has the memory it asks for free now.",
     "目前没有节点有其所需的空闲内存。"},
    {Reason::waiting_for_disk, "waiting_for_disk", "No node has the disk it asks for free now.",
     "目前没有节点有其所需的空闲磁盘。"},
    {Reason::waiting_for_data, "waiting_for_data", "No node has the data it requires in its cache now.",
     "目前没有节点缓存有其要求的数据。"},
    {Reason::waiting_for_node, "waiting_for_node", "No node that may serve it takes work now.",
     "目前没有符合条件的节点接受新任务。"},
    {Reason::waiting_for_preemption, "waiting_for_preemption",
     "Jobs of lower priority are stopping to make room for it.", "低优先级作业正在为其让出资源。"},
    {Reason::waiting_for_quota, "waiting_for_quota", "Its tenant's quota is used up for now.",
     "所属租户的配额暂时已用完。"},
    {Reason::waiting_for_dependency, "waiting_for_dependency", "It waits for another job to end.",
     "正在等待另一个作业结束。"},
    {Reason::waiting_for_gang, "waiting_for_gang", "Its tasks start together, and not all of them fit now.",
     "该作业的任务须同时启动，目前资源不足以容纳全部任务。"},
    {Reason::held_by_queue, "held_by_queue", "Jobs ahead of it in the queue come first.",
     "队列中排在前面的作业优先。"},
    {Reason::placed, "placed", "A place was found and recorded.", "已分配资源并记录。"},
    {Reason::launched, "launched", "The node was told to start it.", "已通知节点启动。"},
    {Reason::pulling, "pulling", "The node fetches its image.", "节点正在拉取镜像。"},
    {Reason::mounting, "mounting", "The node mounts its paths.", "节点正在挂载路径。"},
    {Reason::preheating, "preheating", "The node loads its data into the cache.", "节点正在预热数据。"},
    {Reason::process_started, "process_started", "Its process runs.", "进程已启动。"},
    {Reason::exit_zero, "exit_zero", "It ended well.", "正常结束。"},
    {Reason::exit_nonzero, "exit_nonzero", "It ended with a non-zero exit code.", "以非零退出码结束。"},
    {Reason::killed_by_signal, "killed_by_signal", "It was ended by a signal.", "被信号终止。"},
    {Reason::out_of_memory, "out_of_memory", "The task used more memory than it asked for.",
     "任务使用的内存超过了申请量。"},
    {Reason::gpu_out_of_memory, "gpu_out_of_memory", "The task used more GPU memory than it asked for.",
     "任务使用的显存超过了申请量。"},
    {Reason::disk_full, "disk_full", "The task used up the disk space it asked for.",
     "任务用尽了申请的磁盘空间。"},
    {Reason::start_failed, "start_failed", "The node could not start it.", "节点无法启动该任务。"},
    {Reason::preempted_for, "preempted_for", "It was stopped to make room for a job of higher priority.",
     "为更高优先级的作业让出资源而停止。"},
    {Reason::requeued, "requeued", "It went back to its queue.", "已回到队列。"},
    {Reason::node_lost, "node_lost", "Its node is no longer heard.", "所在节点失去联系。"},
    {Reason::node_drained, "node_drained", "Its node was drained.", "所在节点已被排空。"},
    {Reason::device_lost, "device_lost", "A device it held is gone.", "所占用的设备已丢失。"},
    {Reason::agent_restarted, "agent_restarted", "The node's agent restarted and took it over.",
     "节点代理已重启并重新接管。"},
    {Reason::time_limit, "time_limit", "It reached its time limit.", "达到了运行时间上限。"},
    {Reason::prepare_timeout, "prepare_timeout", "The node took too long to make it ready.",
     "节点准备任务超时。"},
    {Reason::stop_timeout, "stop_timeout", "It did not stop in time and was killed.",
     "未能及时停止，已被强制结束。"},
    {Reason::max_queue_time, "max_queue_time", "It waited longer than it was willing to.",
     "等待时间超过了允许的上限。"},
    {Reason::user_cancelled, "user_cancelled", "It was cancelled by a user.", "被用户取消。"},
    {Reason::admin_evicted, "admin_evicted", "It was evicted by an administrator.", "被管理员驱逐。"},
    {Reason::quota_evicted, "quota_evicted", "It was evicted to bring its tenant back under its quota.",
     "因租户超出配额而被驱逐。"},
    {Reason::dependency_failed, "dependency_failed", "A job it depends on did not end well.",
     "所依赖的作业未能正常结束。"},
    {Reason::unenforceable, "unenforceable", "The node cannot hold a limit that it needs.",
     "节点无法强制执行所需的限制。"},
    {Reason::rejected, "rejected", "It was refused.", "已被拒绝。"},
};

constexpr auto reason_names = [] {
    std::array<EnumName<Reason>, std::size(reason_rows)> names{};
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = {reason_rows[i].reason, reason_rows[i].name};
    return names;
}();

}  // namespace

std::span<const ReasonRow> reason_table() { return reason_rows; }

const ReasonRow& reason_row(Reason reason) {
    const auto index = static_cast<std::size_t>(reason);
    CRATER_CHECK(index < std::size(reason_rows) && reason_rows[index].reason == reason);
    return reason_rows[index];
}

std::span<const EnumName<Reason>> enum_names(Reason) { return reason_names; }

}  // namespace crater
