import Testing
import VestaTesting

@testable import VestaConcurrency

/// The machine against a slow, obvious model: a list of all callers in order, of which the longest possible head
/// is active.
@Suite struct ReadWriteMachineTests {
  enum Step: Equatable { case read(Int), write(Int) }

  struct Model {
    var line: [Step] = []

    /// The requests that may be active: a write that is first, or the readers before the first write.
    var active: [Step] {
      if case .write? = line.first { return [line[0]] }
      return Array(line.prefix { if case .read = $0 { true } else { false } })
    }
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>) func `readers and writers are admitted in the order of arrival`(
    seed: UInt64
  ) {
    var generator = SplitMix(seed: seed)
    var machine = ReadWriteMachine<Int, Int>()
    var model = Model()
    var active: [Step] = []

    func perform(_ action: ReadWriteMachine<Int, Int>.Action) {
      switch action {
      case .none: break
      case .admit(let readers): active += readers.map { .read($0) }
      case .run(let write): active.append(.write(write))
      }
    }

    for id in 0..<400 {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<3:
        model.line.append(.read(id))
        if machine.readerArrived() { active.append(.read(id)) } else { machine.readerWaits(id) }
      case 3..<5:
        model.line.append(.write(id))
        perform(machine.writeArrived(id))
      default:
        guard let done = active.randomElement(using: &generator) else { continue }
        active.removeAll { $0 == done }
        model.line.removeAll { $0 == done }
        if case .write = done { perform(machine.writeEnded()) } else { perform(machine.readerEnded()) }
      }
      #expect(active == model.active, "seed \(seed), step \(id)")
      #expect(machine.waitingCount == model.line.count - active.count, "seed \(seed), step \(id)")
    }
  }
}

@Suite struct FifoTests {
  @Test(arguments: 1...10 as ClosedRange<UInt64>) func `random operations keep the order`(seed: UInt64) {
    var generator = SplitMix(seed: seed)
    var (fifo, model) = (Fifo<Int>(), [Int]())
    for number in 0..<1_000 {
      if Int.random(in: 0..<5, using: &generator) < (number < 500 ? 4 : 2) {
        fifo.append(number)
        model.append(number)
      } else {
        #expect(fifo.popFirst() == (model.isEmpty ? nil : model.removeFirst()), "seed \(seed)")
      }
      #expect(fifo.first == model.first && fifo.count == model.count, "seed \(seed)")
    }
    #expect(fifo.takeAll() == model)
    #expect(fifo.isEmpty)
  }
}
