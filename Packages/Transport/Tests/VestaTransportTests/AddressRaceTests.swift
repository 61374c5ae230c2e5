import Testing
import VestaTesting

@testable import VestaTransport

/// Addresses that answer after a time, refuse after a time, or never answer; the race runs on virtual time.
private struct RaceRun {
  enum Fate {
    case answers(after: Int)
    case refuses(after: Int)
    case silent
  }

  private enum Event {
    case outcome(Int)
    case delay(Int)
    case timeOut
  }

  var begun: [(address: Int, at: Int)] = []
  var winner: Int?
  var hasFailed = false
  var open: Set<Int> = []
  var endedAt = 0

  init(_ fates: [Fate], delay: Int = 250, timeOut: Int = 10_000) {
    var race = AddressRace(count: fates.count)
    var events: [(at: Int, order: Int, event: Event)] = [(timeOut, 0, .timeOut)]
    var order = 1
    var actions = race.begin()
    var now = 0
    while true {
      for action in actions {
        switch action {
        case .attempt(let index):
          begun.append((index, now))
          open.insert(index)
          switch fates[index] {
          case .answers(let after), .refuses(let after): events.append((now + after, order, .outcome(index)))
          case .silent: break
          }
        case .startDelay(let number): events.append((now + delay, order, .delay(number)))
        case .giveUp(let index): open.remove(index)
        case .win(let index):
          open.remove(index)
          (winner, endedAt) = (index, now)
        case .fail: (hasFailed, endedAt) = (true, now)
        }
        order += 1
      }
      guard let next = events.indices.min(by: { (events[$0].at, events[$0].order) < (events[$1].at, events[$1].order) })
      else { return }
      let event = events.remove(at: next)
      now = event.at
      switch event.event {
      case .timeOut: actions = race.timedOut()
      case .delay(let number): actions = race.delayPassed(number)
      case .outcome(let index):
        if case .answers = fates[index] {
          actions = race.succeeded(index)
        } else {
          actions = race.failed(index)
          open.remove(index)
        }
      }
    }
  }
}

struct AddressRaceTests {
  @Test func `the first address alone is tried when it answers in time`() {
    let run = RaceRun([.answers(after: 100), .answers(after: 1)])
    #expect(run.winner == 0 && run.begun.map(\.address) == [0] && run.endedAt == 100)
  }

  @Test func `a silent address delays the next by the delay, and a refusal by nothing`() {
    let silent = RaceRun([.silent, .answers(after: 10)])
    #expect(silent.winner == 1 && silent.endedAt == 260 && silent.open.isEmpty)
    let refused = RaceRun([.refuses(after: 5), .answers(after: 10)])
    #expect(refused.winner == 1 && refused.endedAt == 15)
  }

  @Test func `after a refusal the delay begins anew: the next but one is not tried early`() {
    let run = RaceRun([.refuses(after: 100), .silent, .answers(after: 1)])
    #expect(run.begun.map(\.at) == [0, 100, 350] && run.winner == 2)
  }

  @Test func `a slow address may still win against a later one`() {
    let run = RaceRun([.answers(after: 300), .answers(after: 200)])
    #expect(run.winner == 0 && run.endedAt == 300 && run.open.isEmpty)
  }

  @Test func `all refusing, none at all, and none in time are failures`() {
    #expect(RaceRun([.refuses(after: 1), .refuses(after: 1)]).endedAt == 2)
    #expect(RaceRun([]).hasFailed)
    let silent = RaceRun([.silent, .silent], timeOut: 5_000)
    #expect(silent.hasFailed && silent.endedAt == 5_000 && silent.open.isEmpty)
  }

  @Test func `any fates end the race once, with no attempt left open, by the fastest that could win`() {
    var random = SplitMix(seed: 8_305)
    for _ in 0..<5_000 {
      let fates = (0..<random.below(5)).map { _ -> RaceRun.Fate in
        switch random.below(3) {
        case 0: .answers(after: random.below(1_000))
        case 1: .refuses(after: random.below(1_000))
        default: .silent
        }
      }
      let run = RaceRun(fates, delay: 1 + random.below(400), timeOut: 2_500)
      #expect(run.open.isEmpty && (run.winner == nil) == run.hasFailed)
      #expect(run.begun.map(\.address) == Array(0..<run.begun.count))
      let canWin = fates.contains { if case .answers = $0 { true } else { false } }
      if canWin { #expect(run.winner != nil, "\(fates)") }
    }
  }

  @Test func `families take turns, the favourite of the system first`() {
    let ordered = AddressRace.order(["6a", "6b", "4a", "6c"]) { $0.first }
    #expect(ordered == ["6a", "4a", "6b", "6c"])
    #expect(AddressRace.order([String]()) { $0.first } == [])
  }
}
