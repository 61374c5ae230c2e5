import Testing
import VestaTesting

@testable import VestaFirestoreModel

@Suite struct SortedChunksTests {
  @Test(arguments: 1...6) func `a run has the elements between its positions, in either direction`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var chunks = SortedChunks<Int>(capacity: 2 + random.below(8))
    var model: [Int] = []
    for _ in 0..<400 {
      let number = random.below(120)
      let position = chunks.position { $0 - number }
      if random.oneIn(3) {
        if position.isFound { chunks.remove(at: position) }
        model.removeAll { $0 == number }
      } else {
        chunks.put(number, at: position)
        if !model.contains(number) { model = (model + [number]).sorted() }
      }
      let (first, second, third) = (random.below(130) - 5, random.below(130) - 5, random.below(130) - 5)
      func run(_ lower: Int, _ upper: Int) -> SortedChunks<Int>.Run {
        SortedChunks<Int>.Run(
          from: chunks.position { $0 < lower ? -1 : 1 }, to: chunks.position { $0 < upper ? -1 : 1 })
      }
      let expected = model.filter { $0 >= first && $0 < second }
      let found = elements(of: run(first, second), in: chunks, isReversed: false)
      #expect(found == expected && chunks.count(of: run(first, second)) == expected.count, "seed \(seed)")
      let both = run(first, second).clamped(to: run(third, 200))
      let shared = expected.filter { $0 >= third }
      #expect(elements(of: both, in: chunks, isReversed: true) == shared.reversed(), "seed \(seed)")
      #expect(elements(of: chunks.wholeRun, in: chunks, isReversed: false) == model, "seed \(seed)")
    }
  }

  private func elements(
    of run: SortedChunks<Int>.Run, in chunks: SortedChunks<Int>, isReversed: Bool
  ) -> [Int] {
    var found: [Int] = []
    chunks.forEach(in: run, isReversed: isReversed) { element in
      found.append(element)
      return true
    }
    return found
  }
}
