import Foundation
import Testing
import VestaConcurrency
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

@Suite(.timeLimit(.minutes(10))) struct NetworkMonitorTests {
  private func message(kind: UInt16, length: Int, claims: UInt32? = nil) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(16, length))
    bytes.withUnsafeMutableBytes { bytes in
      bytes.storeBytes(of: claims ?? UInt32(length), as: UInt32.self)
      bytes.storeBytes(of: kind, toByteOffset: 4, as: UInt16.self)
    }
    return bytes
  }

  private func tells(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { NetlinkMessages.tellOfChange($0) } }

  @Test func `interfaces and addresses that appear and disappear are changes, among other messages`() {
    for kind in [16, 17, 20, 21] as [UInt16] {
      #expect(tells(message(kind: kind, length: 32)))
      #expect(tells(message(kind: 24, length: 20) + message(kind: kind, length: 16)))
    }
    for kind in [0, 1, 3, 24, 28] as [UInt16] { #expect(!tells(message(kind: kind, length: 40))) }
  }

  @Test func `damaged messages end the reading`() {
    #expect(!tells([]) && !tells([UInt8](repeating: 255, count: 15)))
    for claims in [0, 1, 15, 41, .max] as [UInt32] {
      #expect(!tells(message(kind: 24, length: 40, claims: claims) + message(kind: 16, length: 16)), "\(claims)")
    }
    var random = SplitMix(seed: 3_549)
    for _ in 0..<20_000 { _ = tells((0..<random.below(80)).map { _ in UInt8(random.below(256)) }) }
  }

  @Test func `an address that appears or disappears is noticed once`() async throws {
    var tuning = TransportTuning()
    tuning.networkSettling = .milliseconds(20)
    let monitor = try VestaNetworkMonitor(tuning: tuning)
    let changes = Log<Void>()
    let registration = monitor.addChangeListener { changes.add(()) }
    let address = "127.77.0.\(Int.random(in: 1...250))/32"
    let added = try await Peer.run("/bin/sh", ["-c", "ip address add \(address) dev lo 2>&1"])
    // Only a machine that lets this user change its network can show it.
    if added.status == 0 {
      await changes.wait(for: 1)
      _ = try await Peer.run("/bin/sh", ["-c", "ip address del \(address) dev lo"])
      await changes.wait(for: 2)
    }
    registration.remove()
    await monitor.close()
  }
}
