public import BenchmarkKit
import Dispatch
import Foundation
import VestaConcurrency
import VestaCore
import VestaMemoryStore
import VestaRemoteConfig
import VestaRemoteConfigBackend
import VestaRemoteConfigService
import VestaServiceInterop

/// The configuration service in memory: evaluations compared with the look-up of their result, and a publish to many
/// listeners.
public func remoteConfigBenchmarks() -> [Benchmark] {
  [
    Benchmark(
      name: "remote-config-fetch-500", unit: .microseconds, bar: .figure(atMost: 100),
      ours: ("fetch, 500 parameters, 50 conditions", { await fetches(2000) }),
      other: ("dictionary look-up of the result", { await lookUps(200_000) })),
    Benchmark(
      // 100 ms until the last of them is notified.
      name: "remote-config-publish-10000", unit: .microseconds, bar: .figure(atMost: 10),
      ours: ("publish, 10,000 listeners, each", { await publishes(listeners: 10_000) }),
      other: ("10,000 closures called, each", { await calls(10_000) })),
    Benchmark(
      name: "remote-config-update", unit: .microseconds, bar: .figure(atMost: 100_000),
      ours: ("publish until a client's listener hears", { await updates(200) }),
      other: ("publish alone", { await publishesAlone(200) })),
  ]
}

private func makeEngine() -> RemoteConfigEngine {
  RemoteConfigEngine(projectID: "bench") { MemoryStore() }
}

/// 50 conditions of several kinds, and 500 parameters of which each has values for five of them.
private let template: ConfigTemplate = {
  let expressions = [
    "device.os == 'linux' && percent('a') <= 50", "app.version.>=(['2.0'])", "device.country in ['DE', 'FR']",
    "app.userProperty['age'] >= 18", "percent('b') between 10 and 20",
  ]
  var template = ConfigTemplate()
  template.conditions = (0..<50).map { ConfigCondition(name: "c\($0)", expression: expressions[$0 % 5]) }
  for index in 0..<500 {
    var parameter = ConfigParameter(defaultValue: .value("default \(index)"))
    for step in 0..<5 { parameter.conditionalValues["c\((index + step * 7) % 50)"] = .value("value \(step)") }
    template.parameters["parameter_\(index)"] = parameter
  }
  return template
}()

private func instance(_ number: Int) -> ConfigInstance {
  var instance = ConfigInstance()
  instance.installationID = "instance-\(number)"
  instance.platform = "linux"
  instance.appVersion = "2.1"
  instance.countryCode = "DE"
  instance.userProperties = ["age": "\(number % 40)"]
  return instance
}

private func publish(_ engine: RemoteConfigEngine) async {
  do {
    _ = try await engine.publish(PublishRequest(template: template, precondition: .any), context: .owner)
  } catch {
    preconditionFailure("the benchmark could not publish: \(error)")
  }
}

private func fetches(_ count: Int) async -> Double {
  let engine = makeEngine()
  await publish(engine)
  return await measure(count) { count in
    for number in 0..<count {
      let request = FetchConfigRequest(namespace: "firebase", instance: instance(number))
      keep(try? await engine.fetch(request, context: CallContext()))
    }
  }
}

private func lookUps(_ count: Int) async -> Double {
  let results = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("instance-\($0)", ["parameter": "\($0)"]) })
  return measure(count) { count in
    for number in 0..<count { keep(results["instance-\(number % 1000)"]) }
  }
}

/// One publish until the last of the listeners is notified, for each listener.
private func publishes(listeners count: Int) async -> Double {
  let engine = makeEngine()
  await publish(engine)
  let heard = Locked(0)
  let (allHeard, all) = AsyncStream<Void>.makeStream()
  let registrations = (0..<count).map { _ in
    engine.listenForInvalidations(
      InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0), context: CallContext(), onEnd: { _ in }
    ) { _ in
      let number = heard.withLock { heard in
        heard += 1
        return heard
      }
      if number % count == 0 { all.yield() }
    }
  }
  var iterator = allHeard.makeAsyncIterator()
  // All of them are connected when they have received the current version.
  await iterator.next()
  let start = ContinuousClock.now
  await publish(engine)
  await iterator.next()
  let duration = ContinuousClock.now - start
  for registration in registrations { registration.cancel() }
  return duration / .nanoseconds(1) / Double(count)
}

private func calls(_ count: Int) async -> Double {
  let heard = Locked(0)
  let closures = (0..<count).map { _ in { heard.withLock { $0 += 1 } } }
  return measure(count) { _ in for closure in closures { closure() } }
}

/// A publish until the listener of a client in the same process is notified, the fetch of the values included.
private func updates(_ count: Int) async -> Double {
  let folder = FileManager.default.temporaryDirectory.appending(path: "vesta-remote-config-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: folder) }
  do {
    let options = VestaOptions(projectID: "bench", backend: .embedded(directory: folder))
    options.callbackQueue = DispatchQueue(label: "bench")
    let app = try VestaApp.configure(
      name: "bench-\(UUID().uuidString)", options: options,
      libraries: [RemoteConfigLibrary.self, RemoteConfigServiceLibrary.self, MemoryStoreLibrary.self])
    let admin = try app.container.require((any RemoteConfigAdminBackend).self)
    let (updates, heard) = AsyncStream<Void>.makeStream()
    let registration = RemoteConfig.remoteConfig(app: app).addOnConfigUpdateListener { update, _ in
      if update != nil { heard.yield() }
    }
    var iterator = updates.makeAsyncIterator()
    var duration = Duration.zero
    // The first update warms up: the connection has to be there.
    for number in 0...count {
      let start = ContinuousClock.now
      let template = ConfigTemplate(parameters: ["key": ConfigParameter(defaultValue: .value("\(number)"))])
      _ = try await admin.publish(PublishRequest(template: template, precondition: .any), context: .owner)
      await iterator.next()
      if number > 0 { duration += ContinuousClock.now - start }
    }
    registration.remove()
    await app.delete()
    return duration / .nanoseconds(1) / Double(count)
  } catch {
    preconditionFailure("the benchmark could not use its app: \(error)")
  }
}

private func publishesAlone(_ count: Int) async -> Double {
  let engine = makeEngine()
  return await measure(count) { count in
    for number in 0..<count {
      let template = ConfigTemplate(parameters: ["key": ConfigParameter(defaultValue: .value("\(number)"))])
      keep(try? await engine.publish(PublishRequest(template: template, precondition: .any), context: .owner))
    }
  }
}
