// /org/mljobd1 on the bus.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <sdbus-c++/sdbus-c++.h>

#include "bus/calls.hpp"
#include "bus/values.hpp"
#include "core/pressure_decision.hpp"
#include "job_manager.hpp"
#include "manager_adaptor.hpp"

namespace mljobd::bus {

inline constexpr const char* manager_path = "/org/mljobd1";
inline constexpr const char* bus_name = "org.mljobd1";

class ManagerObject final
    : public sdbus::AdaptorInterfaces<org::mljobd1::Manager_adaptor, sdbus::ObjectManager_adaptor> {
 public:
  ManagerObject(sdbus::IConnection& connection, store::Store& store, JobManager& manager, JobRunner& runner,
                CallerDirectory& callers, std::string mode, std::function<core::Expected<void>()> reload,
                std::function<void()> give_memory_back, std::function<void(core::JobId)> show);
  ~ManagerObject();
  ManagerObject(const ManagerObject&) = delete;
  ManagerObject& operator=(const ManagerObject&) = delete;

  void announce_counts();
  void announce_state();
  void announce_pressure(std::uint32_t level, const core::ValueMap& details);
  void announce_decision(const core::Decision& decision);

 private:
  using Rows = std::vector<VariantMap>;
  using OneJob = core::Expected<void> (JobManager::*)(const Caller&, core::JobId);

  void Submit(sdbus::Result<std::uint32_t, sdbus::ObjectPath>&& result, VariantMap spec, VariantMap options) override;
  void SubmitPipeline(sdbus::Result<std::vector<sdbus::Struct<std::uint32_t, sdbus::ObjectPath>>>&& result,
                      std::vector<VariantMap> specs, VariantMap options) override;
  Rows Preview(const std::vector<VariantMap>& specs, const VariantMap& options) override;
  void StartForeground(sdbus::Result<std::uint32_t, sdbus::ObjectPath>&& result, sdbus::UnixFd pidfd, VariantMap spec,
                       VariantMap options) override;
  void Adopt(sdbus::Result<std::uint32_t, sdbus::ObjectPath>&& result, std::vector<sdbus::UnixFd> pidfds,
             VariantMap spec, VariantMap options) override;
  sdbus::ObjectPath GetJob(const std::uint32_t& id) override;
  void ListJobs(sdbus::Result<Rows>&& result, VariantMap filter) override;
  Rows ListEvents(const VariantMap& filter) override;
  Rows ListClasses() override;
  VariantMap GetResources() override;
  VariantMap Advise(const VariantMap& request) override;
  Rows Cancel(const std::vector<std::uint32_t>& ids, const VariantMap& options) override;
  Rows Hold(const std::vector<std::uint32_t>& ids, const VariantMap& options) override;
  Rows Release(const std::vector<std::uint32_t>& ids, const VariantMap& options) override;
  Rows Requeue(const std::vector<std::uint32_t>& ids, const VariantMap& options) override;
  void Drain(const VariantMap& options) override;
  void Resume(const VariantMap& options) override;
  void Reload() override;

  std::string Version() override;
  std::string Mode() override;
  std::string State() override;
  std::vector<std::string> Problems() override;
  std::uint32_t Queued() override;
  std::uint32_t Running() override;
  std::uint64_t Finished() override;
  std::uint32_t PressureLevel() override;
  VariantMap Memory() override;

  [[nodiscard]] Caller caller();
  void start_processes(core::JobKind kind, sdbus::Result<std::uint32_t, sdbus::ObjectPath>&& result,
                       std::vector<sdbus::UnixFd> pidfds, const VariantMap& spec, const VariantMap& options);
  [[nodiscard]] Rows each(const std::vector<std::uint32_t>& ids, const VariantMap& options, OneJob request);

  store::Store& store_;
  JobManager& manager_;
  JobRunner& runner_;
  CallerDirectory& callers_;
  std::string mode_;
  std::function<core::Expected<void>()> reload_;
  std::function<void()> give_memory_back_;  // after a call whose answer was large
  std::function<void(core::JobId)> show_;   // exports the job's object
};

}  // namespace mljobd::bus
