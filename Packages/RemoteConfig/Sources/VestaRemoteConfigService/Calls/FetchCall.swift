import VestaConcurrency
import VestaEngineInterop
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStoreInterop

// The fetch of an instance.
extension ConfigOperation {
  func fetch(_ request: FetchConfigRequest) async throws -> FetchConfigResponse {
    try Self.check(request.namespace)
    // Values of servers may be secrets, and everybody may fetch.
    guard request.namespace != ConfigNamespace.servers || context.isOwner else {
      throw RemoteConfigServiceError(.permissionDenied, "The templates of servers are for the owner.")
    }
    try InstanceCheck.check(request.instance)
    guard let plan = try await engine.plans.plan(for: request.namespace, in: try await engine.frame.store()) else {
      return FetchConfigResponse(state: .noTemplate, etag: ETags.fetch(projectID, request.namespace, 0, "0"))
    }
    let evaluator = ConditionEvaluator(instance: request.instance, now: engine.options.clock.now())
    let outcome = try await plan.outcome(for: evaluator)
    let etag = ETags.fetch(projectID, request.namespace, plan.version, outcome.digest)
    if etag == request.etag {
      return FetchConfigResponse(state: .noChange, templateVersion: plan.version, etag: etag)
    }
    return FetchConfigResponse(
      state: outcome.entries.isEmpty ? .emptyConfig : .update, entries: outcome.entries, templateVersion: plan.version,
      etag: etag, rollouts: outcome.rollouts)
  }
}

/// The plans of the current templates; a hint: each fetch looks up in the store which version is current.
final class PlanTable: Sendable {
  private let tuning: RemoteConfigServiceTuning
  private let plans = Locked<[String: FetchPlan]>([:])
  private let loads = SingleFlight<String, FetchPlan?>()

  init(tuning: RemoteConfigServiceTuning) { self.tuning = tuning }

  /// The plan of the current template; `nil` before the first one is published.
  ///
  /// After a publish all instances fetch at once: the first of them makes the plan, and the others wait for it.
  func plan(for namespace: String, in store: any OrderedStore) async throws -> FetchPlan? {
    let current = try await ConfigReader.read(namespace, from: store) { try await $0.currentVersion() }
    if current == 0 { return nil }
    if let known = plans.withLock({ $0[namespace] }), known.version >= current { return known }
    let made = try await loads.value(for: "\(namespace) \(current)") { try await self.load(namespace, from: store) }
    guard let made else { return nil }
    plans.withLock { plans in
      // Names are chosen by clients: plans are kept for namespaces that have a template only.
      if made.version > plans[namespace]?.version ?? 0 { plans[namespace] = made }
    }
    return made
  }

  private func load(_ namespace: String, from store: any OrderedStore) async throws -> FetchPlan? {
    let tuning = tuning
    return try await ConfigReader.read(namespace, from: store) { reader in
      let current = try await reader.currentVersion()
      if current == 0 { return nil }
      guard let template = try await reader.template(current) else {
        throw RemoteConfigServiceError(
          .dataLoss,
          "The current template \(current) of \(namespace) is missing. Roll back to another version, or publish it again."
        )
      }
      return try FetchPlan(template, version: current, tuning: tuning)
    }
  }
}
