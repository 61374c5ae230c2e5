import Foundation
import VestaConcurrency
import VestaMessagingBackend
import VestaTesting

@testable import VestaMessaging

/// Loops over messages, and the ways in which they are left.
extension MessagingHistory {
  /// A loop that takes some messages, each in its own way, and is left or cancelled.
  func loop(_ program: Program, _ client: Int, _ seed: UInt64) async {
    let messaging = program.messagings[client], run = run.withLock { $0 }
    let index = model.withLock { $0.loopBegins(client, run: run) }
    let isOver = Locked(false)
    let task = Task { [model] in
      var random = SplitMix(seed: seed)
      let most = random.below(6)
      var count = 0
      for await message in messaging.foregroundMessages {
        guard let number = Int(message.data["number"] ?? "") else { continue }
        model.withLock { $0.take(number, by: index) }
        switch random.below(6) {
        case 0: block()
        case 1: _ = try? await messaging.token()
        case 2: for _ in 0..<random.below(100) { await Task.yield() }
        default: break
        }
        count += 1
        if count >= most { break }
      }
      isOver.withLock { $0 = true }
    }
    var random = SplitMix(seed: seed &+ 1)
    for _ in 0..<random.below(1_500) where !isOver.withLock({ $0 }) { await Task.yield() }
    task.cancel()
    await task.value
    model.withLock { $0.loopEnds(index) }
  }

  /// Two loops, of which the slower one is left in the middle of a message: the messages that it alone has received and
  /// has not taken are passed on to the other one.
  func leaveTheSlower(_ program: Program, _ client: Int, _ seed: UInt64) async {
    var random = SplitMix(seed: seed)
    let messaging = program.messagings[client], run = run.withLock { $0 }
    guard let token = model.withLock({ $0.clients[client].registrations.last?.token }) else { return }
    let slow = model.withLock { $0.loopBegins(client, run: run) }
    let isLeft = Gate()
    let slower = Task { [model] in
      for await message in messaging.foregroundMessages {
        guard let number = Int(message.data["number"] ?? "") else { continue }
        model.withLock { $0.take(number, by: slow) }
        await isLeft.wait()
        break
      }
    }
    await sendSome(to: token, program, &random)
    let fast = model.withLock { $0.loopBegins(client, run: run) }
    let mayTake = Gate(isOpen: random.oneIn(2)), pace = random.next()
    let faster = Task { [model] in
      var random = SplitMix(seed: pace)
      var messages = messaging.foregroundMessages.makeAsyncIterator()
      await mayTake.wait()
      while let message = await messages.next() {
        guard let number = Int(message.data["number"] ?? "") else { continue }
        model.withLock { $0.take(number, by: fast) }
        for _ in 0..<random.below(100) { await Task.yield() }
      }
    }
    await sendSome(to: token, program, &random)
    isLeft.open()
    slower.cancel()
    await slower.value
    model.withLock { $0.loopEnds(slow) }
    mayTake.open()
    for _ in 0..<random.below(1_500) { await Task.yield() }
    faster.cancel()
    await faster.value
    model.withLock { $0.loopEnds(fast) }
  }

  /// Sends a few messages to a client, and lets them arrive or not.
  private func sendSome(to token: String, _ program: Program, _ random: inout SplitMix) async {
    for _ in 0..<(1 + random.below(3)) {
      var message = MessagingModel.Message(number: 0, target: .token(token), begin: 0)
      message.isHigh = random.oneIn(4)
      await send(message, program)
    }
    for _ in 0..<random.below(1_000) { await Task.yield() }
  }

  /// Receives until everything has arrived that has to.
  func drain(_ program: Program, _ client: Int) async {
    await register(program, client)
    let messaging = program.messagings[client], run = run.withLock { $0 }
    let index = model.withLock { $0.loopBegins(client, run: run) }
    let task = Task { [model] in
      guard !model.withLock({ $0.missing(client).isEmpty }) else { return }
      for await message in messaging.foregroundMessages {
        guard let number = Int(message.data["number"] ?? "") else { continue }
        if model.withLock({
          $0.take(number, by: index); return $0.missing(client).isEmpty
        }) {
          break
        }
      }
    }
    // The time limit of messages that never arrive.
    let limit = Task {
      try await Task.sleep(for: .seconds(30))
      task.cancel()
    }
    await task.value
    limit.cancel()
    model.withLock { model in
      model.loopEnds(index)
      let missing = model.missing(client)
      if !missing.isEmpty {
        model.broken("never arrived at client \(client) (\(model.clients[client])): \(missing)")
      }
    }
  }
}

/// Blocks the thread, as programs do.
private func block() { Thread.sleep(forTimeInterval: 0.001) }
