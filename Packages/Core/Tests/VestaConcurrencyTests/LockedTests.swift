import Testing
import VestaConcurrency

@Suite struct LockedTests {
  @Test func givesBackWhatTheBodyReturns() {
    let count = Locked(41)
    #expect(
      count.withLock {
        $0 += 1; return $0
      } == 42)
  }
}

@Test func captures() async {
  let count = Locked(0)
  await withTaskGroup { group in
    for _ in 0..<10 { group.addTask { count.withLock { $0 += 1 } } }
  }
  #expect(count.withLock { $0 } == 10)
}
