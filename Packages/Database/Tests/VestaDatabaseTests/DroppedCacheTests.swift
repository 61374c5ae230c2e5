import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaDatabase

/// The writes of a device after it has dropped data, and while there is nothing to write.
@Suite(.timeLimit(.minutes(20)))
struct DroppedCacheTests {
  private let device = FullDevice()
  private let clock = ManualClock()

  /// Returns when everything that was handed to the device has been tried.
  private func settle(_ persistence: Persistence) async {
    await withCheckedContinuation { continuation in persistence.whenForgotten { _ in continuation.resume() } }
  }

  @Test func `data that was dropped on a full device is written as a whole with the next change`() async {
    var tuning = DatabaseTuning()
    tuning.deviceBacklog = 1
    let persistence = device.persistence(1 << 20, tuning, clock)
    _ = await persistence.load(now: 0)
    device.room.withLock { $0 = .none }
    var node = DatabaseNode.empty
    func store(_ key: String) async {
      let path = DatabasePath(key), value = DatabaseNode(.string(key))
      node = node.setting(path, to: value)
      persistence.store([.node(path, value)], of: SyncCache(node: node, queries: [], limit: 1 << 20, now: 0))
      await settle(persistence)
    }
    // The second one is more than may wait.
    for key in ["a", "b"] { await store(key) }
    device.room.withLock { $0 = .enough }
    clock.advance(by: .seconds(60))
    await settle(persistence)
    await store("c")
    await persistence.close()
    let kept = await device.persistence(1 << 20, tuning, clock).load(now: 0)
    #expect(kept.cache.node == node && node.childCount == 3)
  }

  @Test func `a change that was made before the data was dropped is not kept without the data`() async {
    var tuning = DatabaseTuning()
    (tuning.deviceBacklog, tuning.deviceGroup) = (1, 1)
    let persistence = device.persistence(1 << 20, tuning, clock)
    _ = await persistence.load(now: 0)
    var node = DatabaseNode.empty
    func store(_ key: String) {
      let path = DatabasePath(key), value = DatabaseNode(.string(key))
      node = node.setting(path, to: value)
      persistence.store([.node(path, value)], of: SyncCache(node: node, queries: [], limit: 1 << 20, now: 0))
    }
    device.room.withLock { $0 = .none }
    store("a")
    await settle(persistence)
    // More than may wait, which is known only when the commit has failed: with room again, but after the next change.
    let held = Gate()
    device.held.withLock { $0 = held }
    store("b")
    await device.arrived.wait { !$0.isEmpty }
    store("c")
    device.room.withLock { $0 = .enough }
    held.open()
    await settle(persistence)
    #expect(await device.persistence(1 << 20, tuning, clock).load(now: 0).cache.node.isEmpty)
    store("d")
    await persistence.close()
    #expect(await device.persistence(1 << 20, tuning, clock).load(now: 0).cache.node == node && node.childCount == 4)
  }

  @Test func `to wait for what is to be forgotten costs no commit where nothing is`() async {
    let persistence = device.persistence(1 << 20, DatabaseTuning(), clock)
    _ = await persistence.load(now: 0)
    await settle(persistence)
    #expect(device.stored.entries.isEmpty)
  }
}
