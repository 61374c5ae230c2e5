import Testing
import VestaServiceInterop
import VestaStoreInterop
import VestaTesting

@testable import VestaDatabaseService

/// Which commits of a shared store are sent without reading the log.
struct CommitOrderTests {
  private func version(_ number: Int) -> StoreVersion { StoreVersion(microseconds: Int64(number)) }

  @Test(arguments: 0..<200)
  func `an own commit is the next one only when nothing of others is missing before it`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var order = CommitOrder()
    order.begin(after: version(1))
    let span = Duration.microseconds(Int64.random(in: 1...60, using: &random))
    var foreign: [Int: Bool] = [:]
    var (sent, reported, read, direct) = (1, 1, nil as Int?, 0)
    for number in 2..<80 {
      // The store reports every engine's commits now or later, and always in order.
      let isOwn = !random.oneIn(4)
      if isOwn { order.noteOwn(version(number)) }
      foreign[number] = !isOwn
      while reported < number, !random.oneIn(5) {
        reported += 1
        order.report(version(reported))
      }
      guard isOwn else { continue }
      let isNext = order.isNext(version(number), within: span)
      let missing = (sent + 1..<number).contains { foreign[$0] == true }
      let isSure =
        reported >= number && read.map { version(number).microseconds - Int64($0) < span.microseconds } == true
      #expect(isNext == (isSure && !missing), "seed \(seed), \(number)")
      if isNext {
        direct += 1
        order.publish(version(number))
      } else {
        order.noteRead(version(number))
        read = number
      }
      sent = number
      #expect(order.published == version(number))
      #expect(order.count <= 80)
    }
    #expect(direct > 0 || span < .microseconds(3))
  }

  @Test func `commits that were sent are forgotten, and later reports of them too`() {
    var order = CommitOrder()
    order.begin(after: version(1))
    for number in 2..<10 {
      order.report(version(number))
      order.noteOwn(version(number))
    }
    order.publish(version(9))
    #expect(order.count == 0)
    order.report(version(9))
    order.noteOwn(version(8))
    order.publish(version(3))
    #expect(order.count == 0 && order.published == version(9))
  }
}
