import Testing
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaRemoteConfigService

/// Random histories of publishes, rollbacks, checks and lists by two engines on one store, under a clock that jumps,
/// against a model that keeps everything in an array.
@Suite struct VersionModelTests {
  private struct Entry {
    var number: Int64
    var value: String
    var type: ConfigVersion.UpdateType
    var source: Int64?
  }

  private static let kept = 5

  private func value(_ template: ConfigTemplate) -> String? {
    if case .value(let text)? = template.parameters["key"]?.defaultValue { text } else { nil }
  }

  @Test func `versions, ETags and rollbacks equal the model's`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    for history in 0..<15 {
      var random = SplitMix(seed: seed &+ UInt64(history))
      let (store, clock) = (ModelStore(), ManualClock())
      let engines = [makeEngine(store, clock: clock), makeEngine(store, clock: clock)]
      var entries: [Entry] = []
      for step in 0..<60 {
        let engine = engines[random.below(2)]
        let label = "seed \(seed), history \(history), step \(step)"
        clock.jump(to: clock.now + Int64(random.below(2_000_000_000)) - 1_000_000_000)
        let current = entries.last?.number ?? 0
        switch random.below(6) {
        case 0, 1: try await publish(engine, &entries, &random, step, label)
        case 2: try await rollBack(engine, &entries, to: max(0, current - Int64(random.below(8))), label)
        case 3: try await check(engine, entries, version: max(0, current - Int64(random.below(8))), label)
        case 4: try await list(engine, entries, pageSize: 1 + random.below(4), label)
        default: try await fetch(engine, entries, label)
        }
      }
    }
  }

  private func publish(
    _ engine: RemoteConfigEngine, _ entries: inout [Entry], _ random: inout SplitMix, _ step: Int, _ label: String
  ) async throws {
    let current = entries.last?.number ?? 0
    let named = random.oneIn(3) ? current - 1 : current
    let isForced = random.oneIn(4)
    let isCheck = random.oneIn(5)
    let template = ConfigTemplate(parameters: ["key": ConfigParameter(defaultValue: .value("\(step)"))])
    let request = PublishRequest(
      template: template, precondition: isForced ? .any : .etag("etag-p-\(named)"), isValidateOnly: isCheck)
    do {
      let stored = try await engine.publish(request, context: .owner)
      #expect(isForced || named == current, "\(label)")
      guard !isCheck else { return #expect(stored.etag == "etag-p-0", "\(label)") }
      entries.append(
        Entry(number: current + 1, value: "\(step)", type: isForced ? .forced : .incremental, source: nil))
      #expect(stored.etag == "etag-p-\(current + 1)", "\(label)")
    } catch {
      #expect(error.code == .failedPrecondition && !isForced && named != current, "\(label): \(error)")
    }
  }

  private func rollBack(
    _ engine: RemoteConfigEngine, _ entries: inout [Entry], to source: Int64, _ label: String
  ) async throws {
    let current = entries.last?.number ?? 0
    let known = entries.suffix(Self.kept).first { $0.number == source }
    do {
      let stored = try await engine.rollback(namespace: "firebase", to: source, user: nil, context: .owner)
      let entry = Entry(number: current + 1, value: known?.value ?? "-", type: .rollback, source: source)
      entries.append(entry)
      #expect(known != nil && source != current && value(stored.template) == known?.value, "\(label)")
    } catch {
      #expect(error.code == (source == current ? .failedPrecondition : .notFound), "\(label): \(error)")
      #expect(known == nil || source == current, "\(label)")
    }
  }

  private func check(_ engine: RemoteConfigEngine, _ entries: [Entry], version: Int64, _ label: String) async throws {
    let known = entries.suffix(Self.kept).first { $0.number == version }
    do {
      let stored = try await engine.template(namespace: "firebase", version: version, context: .owner)
      #expect(value(stored.template) == known?.value && stored.etag == "etag-p-\(version)", "\(label)")
      #expect(stored.template.version?.updateType == known?.type, "\(label)")
      #expect(stored.template.version?.rollbackSource == known?.source, "\(label)")
    } catch {
      #expect(error.code == .notFound && known == nil, "\(label): \(error)")
    }
  }

  private func list(_ engine: RemoteConfigEngine, _ entries: [Entry], pageSize: Int, _ label: String) async throws {
    var versions: [ConfigVersion] = []
    var page: String?
    repeat {
      let request = ListVersionsRequest(pageSize: pageSize, pageToken: page)
      let result = try await engine.listVersions(request, context: .owner)
      #expect(result.versions.count <= pageSize, "\(label)")
      versions += result.versions
      page = result.nextPageToken
    } while page != nil
    #expect(versions.compactMap(\.versionNumber) == entries.suffix(Self.kept).map(\.number).reversed(), "\(label)")
    let times = versions.compactMap(\.updateTime)
    #expect(times == times.sorted(by: >), "\(label)")
  }

  private func fetch(_ engine: RemoteConfigEngine, _ entries: [Entry], _ label: String) async throws {
    let request = FetchConfigRequest(namespace: "firebase", instance: ConfigInstance())
    let response = try await engine.fetch(request, context: CallContext())
    #expect(response.entries["key"] == entries.last?.value, "\(label)")
    #expect(response.state == (entries.isEmpty ? .noTemplate : .update), "\(label)")
    let again = FetchConfigRequest(namespace: "firebase", instance: ConfigInstance(), etag: response.etag)
    let unchanged = try await engine.fetch(again, context: CallContext())
    #expect(unchanged.state == (entries.isEmpty ? .noTemplate : .noChange), "\(label)")
  }
}
