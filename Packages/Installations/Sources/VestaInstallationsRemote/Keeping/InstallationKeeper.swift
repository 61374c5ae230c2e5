public import VestaConcurrency
import VestaCore
public import VestaInstallationsBackend
public import VestaServiceInterop

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The installation of an app with a service on another machine: creates it when it is first needed, keeps its secrets
/// in a file, and renews its token.
///
/// - Callers at the same time wait for one request.
/// - After a failure the service is left alone as Firebase's SDKs leave it alone (`InstallationKeeperTuning`); callers
///   get the failure until then.
/// - An installation that the service no longer knows is given up, and another one with another id is created.
///
/// ```swift
/// let keeper = InstallationKeeper(of: remote, appID: "1:2:ios:3", ids: app, file: file)
/// let token = try await keeper.credential().token
/// ```
public final class InstallationKeeper: InstallationSource {
  private typealias Record = InstallationMachine.Record

  private struct State {
    var machine: InstallationMachine
    var isLoaded = false
  }

  private let backend: any InstallationsBackend
  private let appID: String
  private let ids: IDs
  private let file: ValueFile<InstallationMachine.Record>?
  private let clock: ServiceClock
  private let tuning: InstallationKeeperTuning
  private let random: @Sendable () -> Double
  private let flight = SingleFlight<Int, InstallationCredential>()
  private let state: Locked<State>

  /// The ids of the app.
  public struct IDs: Sendable {
    /// Returns the id that the app would like.
    public var preferred: @Sendable () -> String

    /// Draws another one, when an installation was given up.
    public var renew: @Sendable () -> Void

    /// Ids.
    ///
    /// - Parameters:
    ///   - preferred: Returns the id that the app would like.
    ///   - renew: Draws another one.
    public init(preferred: @escaping @Sendable () -> String, renew: @escaping @Sendable () -> Void) {
      self.preferred = preferred
      self.renew = renew
    }
  }

  /// A keeper; nothing is read and nothing is sent yet.
  ///
  /// - Parameters:
  ///   - backend: The service.
  ///   - appID: The id of the app.
  ///   - ids: The ids of the app.
  ///   - file: The file with the installation and its secrets; without one they last until the process ends.
  ///   - clock: The clock of lifetimes and pauses.
  ///   - tuning: The figures at which the behaviour changes.
  ///   - random: Returns random numbers from 0 up to 1.
  public init(
    of backend: any InstallationsBackend, appID: String, ids: IDs, file: URL? = nil,
    clock: ServiceClock = .system, tuning: InstallationKeeperTuning = InstallationKeeperTuning(),
    random: @escaping @Sendable () -> Double = Retry.systemRandom
  ) {
    self.backend = backend
    self.appID = appID
    self.ids = ids
    self.file = file.map { ValueFile($0) }
    self.clock = clock
    self.tuning = tuning
    self.random = random
    state = Locked(State(machine: InstallationMachine(tuning: tuning)))
  }

  /// The id of the installation and a valid token.
  public func credential() async throws(InstallationsServiceError) -> InstallationCredential {
    load()
    if case .nothing(let record) = state.withLock({ $0.machine.need(now: clock.now()) }) {
      return InstallationCredential(id: record.id, token: record.token)
    }
    do {
      return try await flight.value(for: 0) { try await self.fetch() }
    } catch let error as InstallationsServiceError {
      throw error
    } catch is CancellationError {
      throw InstallationsServiceError(.cancelled, "The call was cancelled.")
    } catch {
      throw InstallationsServiceError(.unknown, "The installation cannot be fetched: \(error)")
    }
  }

  /// Notes that a service has refused a token; the next credential has another one.
  public func tokenWasRefused(_ token: String) {
    load()
    if state.withLock({ $0.machine.tokenWasRefused(token) }) { save() }
  }

  /// Deletes the installation at the service and here; the next credential is that of another one.
  ///
  /// - Throws: The service's failure; the installation is kept then.
  public func delete() async throws(InstallationsServiceError) {
    load()
    guard let record = state.withLock({ $0.machine.record }) else { return }
    try await backend.delete(id: record.id, refreshToken: record.refreshToken, context: context)
    let isForgotten = state.withLock { $0.machine.forget(record.id) }
    if isForgotten { giveUp() }
  }

  // MARK: One request

  private func fetch() async throws -> InstallationCredential {
    var isSecond = false
    while true {
      try Task.checkCancellation()
      let need = state.withLock { $0.machine.need(now: clock.now()) }
      do throws(InstallationsServiceError) {
        switch need {
        case .nothing(let record): return InstallationCredential(id: record.id, token: record.token)
        case .pause(_, let error): throw error
        case .create:
          let request = CreateInstallationRequest(id: ids.preferred(), appID: appID)
          let made = try await backend.create(request, context: context)
          _ = state.withLock { $0.machine.created(made, now: clock.now()) }
        case .renew(let record):
          let token = try await backend.generateToken(
            id: record.id, refreshToken: record.refreshToken, context: context)
          _ = state.withLock { $0.machine.renewed(record, token, now: clock.now()) }
        }
        save()
        if let record = state.withLock({ $0.machine.record }) {
          return InstallationCredential(id: record.id, token: record.token)
        }
      } catch {
        guard try decide(error, after: need, isSecond: isSecond) else { throw error }
        isSecond = true
      }
    }
  }

  /// Whether the request is made again.
  private func decide(
    _ error: InstallationsServiceError, after need: InstallationMachine.Need, isSecond: Bool
  ) throws -> Bool {
    var isRenewal = false
    switch need {
    case .pause: return false
    case .renew: isRenewal = true
    case .nothing, .create: break
    }
    let random = random()
    let verdict = state.withLock {
      $0.machine.failed(error, isRenewal: isRenewal, isSecond: isSecond, now: clock.now(), random: random)
    }
    if verdict == .createAnother { giveUp() }
    return verdict != .fail
  }

  private var context: CallContext { CallContext().limited(to: tuning.callTimeout, by: clock) }

  // MARK: The file

  private func load() {
    guard !state.withLock({ $0.isLoaded }) else { return }
    let record = file?.load()
    state.withLock { state in
      guard !state.isLoaded else { return }
      state.isLoaded = true
      state.machine = InstallationMachine(record, tuning: tuning)
    }
  }

  /// Writes the installation; one that cannot be written lasts until the process ends, and the next run has another.
  private func save() {
    guard let record = state.withLock({ $0.machine.record }) else { return }
    try? file?.save { state.withLock { $0.machine.record } ?? record }
  }

  private func giveUp() {
    try? file?.remove()
    ids.renew()
  }
}
