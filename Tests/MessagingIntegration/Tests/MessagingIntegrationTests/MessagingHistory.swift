import Dispatch
import Foundation
import Testing
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaInstallationsBackend
import VestaInstallationsBackendFakes
import VestaMessagingBackend
import VestaMessagingEndpoints
import VestaMessagingRemote
import VestaSQLite
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaMessaging
@testable import VestaMessagingService

/// Clients that register, follow topics, and receive in loops that block, call back and are left, concurrently with
/// senders, with restarts and a clock that jumps.
final class MessagingHistory: Sendable {
  static let topics = ["a", "b", "c"]

  let model: Locked<MessagingModel>
  private let seed: UInt64
  private let directory: TemporaryDirectory
  private let count: Int
  private let offset = Locked(Int64(0))
  private let clock: ServiceClock
  let run = Locked(0)

  init(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    self.seed = seed
    count = 1 + random.below(3)
    directory = try TemporaryDirectory("messaging-oracle")
    model = Locked(MessagingModel(clients: count))
    var options = MessagingServiceOptions(deliveryWindow: 1 + random.below(6))
    clock = ServiceClock(
      now: { [offset] in ServiceClock.system.now() + offset.withLock { $0 } },
      schedule: { ServiceClock.system.schedule(after: $0, $1) })
    options.clock = clock
    options.tuning.longestGap = Int64(1 + random.below(6))
    options.tuning.longestTrail = 1 + random.below(5)
    options.tuning.longestPage = 1 + random.below(5)
    options.tuning.readBatch = 1 + random.below(5)
    options.tuning.sweepBatch = 1 + random.below(5)
    options.tuning.maximumInstants = 1 + random.below(4)
    Chosen.options.withLock { [options] in $0["oracle-\(seed)"] = options }
  }

  // MARK: Programs

  /// The apps of one run.
  struct Program {
    let apps: [VestaApp]
    let messagings: [Messaging]
    let admin: any MessagingAdminBackend
  }

  private func start() throws -> Program {
    run.withLock { $0 += 1 }
    var random = SplitMix(seed: seed &+ 5)
    var tuning = MessagingTuning()
    tuning.rememberedMessages = 200
    tuning.acknowledgementBatch = 1 + random.below(4)
    tuning.firstPause = .milliseconds(5)
    tuning.longestPause = .milliseconds(40)
    tuning.topicPause = .milliseconds(20)
    let apps = try (0..<count).map { client in
      let options = VestaOptions(
        projectID: "oracle-\(seed)", backend: .embedded(directory: URL(filePath: directory.path)))
      options.gcmSenderID = "1"
      options.callbackQueue = DispatchQueue(label: "callbacks")
      return try VestaApp.configure(
        name: "oracle-\(seed)-\(client)", options: options,
        libraries: [MessagingServiceLibrary.self, SQLiteLibrary.self, Chosen.self])
    }
    let messagings = try apps.map {
      Messaging(app: $0, backend: try backend(of: $0), clock: clock, tuning: tuning)
    }
    return Program(
      apps: apps, messagings: messagings,
      admin: try apps[0].container.require((any MessagingAdminBackend).self))
  }

  /// The engine of an app, or a remote backend in front of it, as the environment says.
  private func backend(of app: VestaApp) throws -> any MessagingBackend {
    let engine = try app.container.require((any MessagingBackend).self)
    guard TestBackend.current == .wire else { return engine }
    // A server counts deadlines by the clock of its engines.
    let host = FakeEndpointHost(project: "oracle-\(seed)", clock: clock)
    host.add((any MessagingBackend).self, engine)
    host.add((any MessagingAdminBackend).self, try app.container.require((any MessagingAdminBackend).self))
    host.add((any InstallationsVerifier).self, TrustingInstallations())
    var service = try host.service(of: MessagingEndpoints())
    service.clock = clock
    return MessagingRemote(project: "oracle-\(seed)", on: service) { id in
      FakeInstallationSource(id: id) { _ in "fis-\(id)" }
    }
  }

  private func end(_ program: Program) async {
    for (app, messaging) in zip(program.apps, program.messagings) { await messaging.appWillBeDeleted(app) }
    for app in program.apps { await app.delete() }
  }

  /// Runs a program to its end.
  ///
  /// - Parameters:
  ///   - number: The number of the program in the history.
  ///   - drains: Whether it receives all messages that have to arrive.
  func round(_ number: Int, drains: Bool) async throws {
    var random = SplitMix(seed: seed &* 100 &+ UInt64(number))
    offset.withLock { $0 += Int64(random.below(4_000) - 300) * 1_000_000 }
    let program = try start()
    for client in 0..<count { await register(program, client) }
    await withTaskGroup(of: Void.self) { group in
      for client in 0..<count {
        let seed = random.next()
        group.addTask { [self] in
          var random = SplitMix(seed: seed)
          for _ in 0..<(4 + random.below(8)) { await act(program, client, &random) }
        }
      }
      for _ in 0..<2 {
        let seed = random.next()
        group.addTask { [self] in
          var random = SplitMix(seed: seed)
          for _ in 0..<(4 + random.below(16)) { await send(program, &random) }
        }
      }
    }
    if drains { for client in 0..<count { await drain(program, client) } }
    await end(program)
  }

  // MARK: Senders

  private func send(_ program: Program, _ random: inout SplitMix) async {
    for _ in 0..<random.below(200) { await Task.yield() }
    let topic = random.pick(Self.topics), other = random.pick(Self.topics)
    let target: PushMessage.Target
    switch random.below(6) {
    case 0, 1:
      let tokens = model.withLock { $0.clients.flatMap { $0.registrations.suffix(2).map(\.token) } }
      guard !tokens.isEmpty else { return }
      target = .token(random.pick(tokens))
    case 2, 3: target = .topic(topic)
    case 4: target = .condition("'\(topic)' in topics && !('\(other)' in topics)")
    default: target = .condition("'\(topic)' in topics || '\(other)' in topics")
    }
    var message = MessagingModel.Message(number: 0, target: target, begin: 0)
    message.isHigh = random.oneIn(3)
    message.isImmediate = random.oneIn(8)
    if random.oneIn(4) { message.collapseKey = "\(target)".filter { $0.isLetter || $0.isNumber } }
    await send(message, program)
  }

  func send(_ message: MessagingModel.Message, _ program: Program) async {
    let number = model.withLock { $0.sends(message) }
    var push = PushMessage(to: message.target, data: ["number": "\(number)"])
    push.android = ["priority": message.isHigh ? "HIGH" : "NORMAL"]
    if message.isImmediate { push.android?["ttl"] = "0s" }
    if let key = message.collapseKey { push.android?["collapse_key"] = .string(String(key.suffix(60))) }
    do {
      _ = try await program.admin.send(push, isValidateOnly: false, context: .owner)
      model.withLock { $0.sent(number, isAccepted: true) }
    } catch {
      model.withLock { model in
        model.sent(number, isAccepted: false)
        if error != .unregistered { model.broken("message \(number) was refused: \(error)") }
      }
    }
  }

  // MARK: Clients

  func register(_ program: Program, _ client: Int) async {
    do {
      let token = try await program.messagings[client].token()
      model.withLock { $0.registered(client, token) }
    } catch {
      model.withLock { $0.broken("client \(client) has no token: \(error)") }
    }
  }

  private func act(_ program: Program, _ client: Int, _ random: inout SplitMix) async {
    let messaging = program.messagings[client]
    switch random.below(14) {
    case 0...4: await loop(program, client, random.next())
    case 5:
      let (one, other) = (random.next(), random.next())
      async let first: Void = loop(program, client, one)
      await loop(program, client, other)
      await first
    case 6: _ = messaging.foregroundMessages.makeAsyncIterator()
    case 11, 12: await leaveTheSlower(program, client, random.next())
    case 7...9: await change(messaging, client, random.pick(Self.topics), isMember: !random.oneIn(3), waits: true)
    case 10: await change(messaging, client, random.pick(Self.topics), isMember: random.oneIn(2), waits: false)
    default:
      guard random.oneIn(3) else { return await register(program, client) }
      let changes = model.withLock { $0.deletes(client, topics: Self.topics) }
      do {
        try await messaging.deleteToken()
      } catch {
        model.withLock { $0.broken("the token of client \(client) was not deleted: \(error)") }
      }
      model.withLock { $0.deleted(client, changes) }
      await register(program, client)
    }
  }

  private func change(_ messaging: Messaging, _ client: Int, _ topic: String, isMember: Bool, waits: Bool) async {
    let index = model.withLock { $0.changes(client, topic, to: isMember) }
    let ended = Gate()
    let end: @Sendable ((any Error)?) -> Void = { [model] error in
      model.withLock { model in
        // A change that waits when the app ends is made by the next one.
        guard let error else { return model.changed(client, index) }
        if waits { model.broken("a change of topic \(topic) of client \(client) failed: \(error)") }
      }
      ended.open()
    }
    if isMember {
      messaging.subscribe(toTopic: topic, completion: end)
    } else {
      messaging.unsubscribe(fromTopic: topic, completion: end)
    }
    if waits { await ended.wait() }
  }
}

/// The options of the history whose project is configured.
private enum Chosen: Library {
  static let name = "messaging-oracle"
  static let options = Locked<[String: MessagingServiceOptions]>([:])

  static func components() -> [Component] {
    [
      Component(MessagingServiceOptions.self, caching: .shared) { container in
        options.withLock { $0[container.options.projectID ?? ""] }
      }
    ]
  }
}

/// Believes tokens that say whose they are.
private struct TrustingInstallations: InstallationsVerifier {
  func verify(token: String, context: CallContext) async throws(InstallationsServiceError) -> VerifiedInstallation {
    VerifiedInstallation(id: String(token.dropFirst(4)), appID: "app")
  }
}
