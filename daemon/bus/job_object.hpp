// /org/mljobd1/job/ID on the bus.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <sdbus-c++/sdbus-c++.h>

#include "bus/calls.hpp"
#include "bus/values.hpp"
#include "job_adaptor.hpp"
#include "job_manager.hpp"

namespace mljobd::bus {

[[nodiscard]] sdbus::ObjectPath job_path(core::JobId id);

class JobObject final : public sdbus::AdaptorInterfaces<org::mljobd1::Job_adaptor, sdbus::ManagedObject_adaptor> {
 public:
  JobObject(sdbus::IConnection& connection, core::JobId id, JobManager& manager, JobRunner& runner,
            CallerDirectory& callers);
  ~JobObject();
  JobObject(const JobObject&) = delete;
  JobObject& operator=(const JobObject&) = delete;

  void announce_state(std::size_t steps);  // after a change of state
  void announce_details();                 // after a change of anything else
  void announce_forecast();

 private:
  void Cancel(const VariantMap& options) override;
  void Hold(const VariantMap& options) override;
  void Release(const VariantMap& options) override;
  void Requeue(const VariantMap& options) override;
  void Signal(sdbus::Result<>&& result, std::int32_t signal, VariantMap options) override;
  void Freeze(sdbus::Result<>&& result, VariantMap options) override;
  void Thaw(sdbus::Result<>&& result, VariantMap options) override;
  void Park(sdbus::Result<>&& result, VariantMap options) override;
  void Unpark(sdbus::Result<>&& result, VariantMap options) override;
  void SetLimits(sdbus::Result<>&& result, VariantMap limits, VariantMap options) override;
  VariantMap GetSpec() override;
  sdbus::UnixFd OpenLog(const VariantMap& options) override;
  std::map<std::string, std::vector<std::uint64_t>> GetSamples(const VariantMap& options) override;
  void ReportProgress(const double& progress, const std::string& message, const VariantMap& options) override;
  void ReportExit(const std::int32_t& exit_code, const std::uint32_t& exit_signal, const VariantMap& options) override;

  std::uint32_t Id() override;
  std::string Name() override;
  std::string Class() override;
  std::string Kind() override;
  std::uint32_t Owner() override;
  std::uint64_t SubmitTime() override;
  std::string State() override;
  std::string Reason() override;
  std::uint32_t Attempt() override;
  std::string Unit() override;
  std::string Slice() override;
  std::uint64_t StartTime() override;
  std::uint64_t EndTime() override;
  std::int32_t ExitCode() override;
  std::uint32_t ExitSignal() override;
  std::string Result() override;
  VariantMap Cause() override;
  VariantMap Limits() override;
  VariantMap Effective() override;
  std::vector<std::string> Warnings() override;
  VariantMap Usage() override;
  VariantMap Forecast() override;
  double Progress() override;
  std::string ProgressMessage() override;

  [[nodiscard]] const core::Job& job() const;
  [[nodiscard]] Caller caller();
  void emit(const std::vector<std::string>& properties);

  core::JobId id_;
  JobManager& manager_;
  JobRunner& runner_;
  CallerDirectory& callers_;
};

}  // namespace mljobd::bus
