public import BenchmarkKit
import Dispatch
import Foundation
import VestaAuth
import VestaAuthBackend
import VestaConcurrency
import VestaCryptoInterop
import VestaServiceInterop

/// The cost of account calls on the embedded engine with SQLite and libcrypto.
public func authBenchmarks() -> [Benchmark] {
  [signIn, signInOnEngine, signInSyncs, signInOnEngineSync, verifyToken, sharedRefresh, currentUser]
}

/// Nearly all of a sign-in should be the password's hash, which is slow on purpose.
private var signIn: Benchmark {
  Benchmark(
    name: "auth-sign-in", unit: .microseconds, bar: .ratio(atMost: 1.05),
    ours: (
      "signIn(withEmail:password:)",
      {
        let bench = await AuthBench.shared()
        (bench.crypto as? TimedCrypto)?.restart()
        return await perOperation(20) {
          _ = try await bench.auth.signIn(withEmail: AuthBench.email, password: AuthBench.password)
        }
      }
    ),
    other: ("the scrypt in it", scryptWithin))
}

/// The same without the client: no session is kept, no listener is notified.
private var signInOnEngine: Benchmark {
  Benchmark(
    name: "auth-sign-in-engine", unit: .microseconds, bar: .ratio(atMost: 1.05),
    ours: (
      "signInWithPassword",
      {
        let bench = await AuthBench.shared()
        let request = PasswordSignInRequest(email: AuthBench.email, password: AuthBench.password)
        (bench.crypto as? TimedCrypto)?.restart()
        return await perOperation(20) { _ = try await bench.backend.signInWithPassword(request, context: .init()) }
      }
    ), other: ("the scrypt in it", scryptWithin))
}

/// The hashes of the sign-ins that were measured just before.
private let scryptWithin: Benchmark.Run = {
  guard let crypto = await AuthBench.shared().crypto as? TimedCrypto else { preconditionFailure("the app is another") }
  return crypto.nanosecondsPerHash
}

/// How much of the two lines above the disk takes for itself: its part of them has no bar, and no code makes it less.
private var signInSyncs: Benchmark {
  Benchmark(
    name: "auth-sign-in-disk", unit: .microseconds, bar: .none,
    ours: ("its two syncs alone", { await syncsAlone(withSession: true) }), other: ("its scrypt alone", scryptAlone))
}

private var signInOnEngineSync: Benchmark {
  Benchmark(
    name: "auth-sign-in-engine-disk", unit: .microseconds, bar: .none,
    ours: ("its sync alone", { await syncsAlone(withSession: false) }), other: ("its scrypt alone", scryptAlone))
}

/// Each sync follows a hash, so that the disk has been as idle as it is in a sign-in.
private func syncsAlone(withSession: Bool) async -> Double {
  let bench = await AuthBench.shared()
  let disk = DiskSync(in: bench.directory)
  defer { disk.close() }
  var total = 0.0
  for _ in 0..<20 {
    _ = await scryptOnce(bench)
    total += disk.run(withSession: withSession)
  }
  return total / 20
}

private func scryptOnce(_ bench: AuthBench) async -> Double {
  await perOperation(1) {
    _ = try await bench.crypto.verifyPassword(AuthBench.password, against: bench.passwordHash)
  }
}

private let scryptAlone: Benchmark.Run = {
  let bench = await AuthBench.shared()
  return await perOperation(20) {
    _ = try await bench.crypto.verifyPassword(AuthBench.password, against: bench.passwordHash)
  }
}

private var verifyToken: Benchmark {
  Benchmark(
    name: "auth-verify-token", unit: .microseconds, bar: .none,
    ours: (
      "verifyIDToken",
      {
        let bench = await AuthBench.shared()
        return await perOperation(2_000) {
          _ = try await bench.admin.verifyIDToken(VerifyTokenRequest(token: bench.token), context: .owner)
        }
      }
    ),
    other: (
      "its signature and claims alone",
      {
        let bench = await AuthBench.shared()
        let verifier = JWTVerifier(issuers: nil, audiences: nil)
        let now = Int64(Date().timeIntervalSince1970)
        return await perOperation(2_000) { _ = try verifier.verify(bench.token, at: now, keys: bench.keys) }
      }
    ))
}

/// A thousand tasks that want a new token at once, each task's share; they are answered by one refresh.
private var sharedRefresh: Benchmark {
  Benchmark(
    name: "auth-1000-refreshes", unit: .microseconds, bar: .none,
    ours: (
      "getIDToken(forcingRefresh:), each of 1000",
      {
        let bench = await AuthBench.shared()
        return await perOperation(1) {
          try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<1_000 { group.addTask { try await bench.user.getIDToken(forcingRefresh: true) } }
            try await group.waitForAll()
          }
        } / 1_000
      }
    ),
    other: (
      "one by itself",
      {
        let bench = await AuthBench.shared()
        return await perOperation(50) { _ = try await bench.user.getIDToken(forcingRefresh: true) }
      }
    ))
}

/// Eight threads that read who is signed in while another changes it; the time of one core for each read.
private var currentUser: Benchmark {
  Benchmark(
    name: "auth-current-user-8-threads", bar: .none,
    ours: (
      "currentUser, 8 threads and a writer",
      {
        let bench = await AuthBench.shared()
        let isOver = Locked(false)
        let writer = Task {
          while !isOver.withLock({ $0 }) { _ = try? await bench.user.getIDToken(forcingRefresh: true) }
        }
        let cores = Double(min(8, ProcessInfo.processInfo.activeProcessorCount))
        let elapsed = ContinuousClock().measure {
          DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<20_000 { keep(bench.auth.currentUser) }
          }
        }
        isOver.withLock { $0 = true }
        await writer.value
        return elapsed / .nanoseconds(1) * cores / 160_000
      }
    ),
    other: (
      "currentUser, 1 thread",
      {
        let bench = await AuthBench.shared()
        return measure(50_000) { for _ in 0..<$0 { keep(bench.auth.currentUser) } }
      }
    ))
}

private func perOperation(_ count: Int, _ operation: () async throws -> Void) async -> Double {
  let start = ContinuousClock.now
  do {
    for _ in 0..<count { try await operation() }
  } catch {
    preconditionFailure("the benchmark's own operation failed: \(error)")
  }
  return (ContinuousClock.now - start) / .nanoseconds(1) / Double(count)
}
