import Testing
import VestaTesting

@testable import VestaStorage

@Suite struct TransferMachineTests {
  typealias Action = TransferMachine.Action

  static func running(_ kind: TransferMachine.Kind) -> TransferMachine {
    var machine = TransferMachine(kind)
    _ = machine.enqueue()
    _ = machine.began(attempt: 1)
    return machine
  }

  @Test func `a task runs from its start to its end`() {
    var machine = TransferMachine(.upload)
    #expect(machine.enqueue() == [.start(attempt: 1)])
    #expect(machine.state == .queueing)
    #expect(machine.enqueue() == [])
    #expect(machine.began(attempt: 1) == [])
    #expect(machine.state == .running)
    #expect(machine.progressed(attempt: 1) == [.notify(.progress)])
    #expect(machine.succeeded(attempt: 1) == [.notify(.progress), .notify(.success), .end])
    #expect(machine.status == .success)
    for late in [machine.cancel(), machine.pause(), machine.resume(), machine.failed(attempt: 1)] {
      #expect(late == [])
    }
  }

  @Test func `an upload is paused at once, a download when its attempt has stopped`() {
    var upload = Self.running(.upload)
    #expect(upload.pause() == [.stop, .notify(.pause)])
    #expect(upload.state == .paused)
    #expect(upload.stopped(attempt: 1) == [])
    var download = Self.running(.download)
    #expect(download.pause() == [.stop])
    #expect(download.state == .pausing)
    #expect(download.stopped(attempt: 1) == [.notify(.pause)])
    #expect(download.state == .paused)
  }

  @Test func `resuming starts the next attempt, and the one before it is ignored`() {
    var machine = Self.running(.upload)
    _ = machine.pause()
    #expect(machine.resume() == [.notify(.resume), .start(attempt: 2)])
    #expect(machine.progressed(attempt: 1) == [])
    #expect(machine.failed(attempt: 1) == [])
    #expect(machine.began(attempt: 2) == [])
    #expect(machine.state == .running)
  }

  @Test func `an upload that an earlier attempt has completed has succeeded, and a download has not`() {
    var upload = Self.running(.upload)
    _ = upload.pause()
    _ = upload.resume()
    #expect(upload.succeeded(attempt: 1) == [.stop, .notify(.progress), .notify(.success), .end])
    var download = Self.running(.download)
    _ = download.pause()
    _ = download.resume()
    #expect(download.succeeded(attempt: 1) == [])
    #expect(download.state == .resuming)
  }

  @Test func `only the current attempt of a transfer that runs may publish, and calls change nothing after that`() {
    var machine = Self.running(.download)
    _ = machine.pause()
    #expect(machine.mayPublish(attempt: 1) == false)
    _ = machine.resume()
    #expect(machine.mayPublish(attempt: 1) == false)
    _ = machine.began(attempt: 2)
    #expect(machine.mayPublish(attempt: 2) == true)
    #expect(machine.mayPublish(attempt: 2) == false)
    for late in [machine.pause(), machine.cancel(), machine.resume(), machine.enqueue()] { #expect(late == []) }
    #expect(machine.status == .resume)
    #expect(machine.succeeded(attempt: 2) == [.notify(.progress), .notify(.success), .end])
    var cancelled = Self.running(.download)
    _ = cancelled.cancel()
    #expect(cancelled.mayPublish(attempt: 1) == false)
  }

  @Test func `a failure is observed after the clean-up, and calls change nothing until then`() {
    var machine = Self.running(.upload)
    #expect(machine.failed(attempt: 1) == [.cleanUp])
    for late in [machine.pause(), machine.cancel(), machine.resume(), machine.succeeded(attempt: 1)] {
      #expect(late == [])
    }
    #expect(!machine.isOver)
    #expect(machine.cleanedUp() == [.notify(.failure), .end])
    #expect(machine.cleanedUp() == [])
    #expect(machine.status == .failure)
  }

  @Test func `an upload that completes while it is paused has succeeded`() {
    var machine = Self.running(.upload)
    _ = machine.pause()
    #expect(machine.succeeded(attempt: 1) == [.notify(.progress), .notify(.success), .end])
  }

  @Test func `a failure while paused or pausing is ignored, and resuming tries again`() {
    var upload = Self.running(.upload)
    _ = upload.pause()
    #expect(upload.failed(attempt: 1) == [])
    #expect(upload.resume() == [.notify(.resume), .start(attempt: 2)])
    var download = Self.running(.download)
    _ = download.pause()
    #expect(download.failed(attempt: 1) == [.notify(.pause)])
    #expect(download.resume() == [.notify(.resume), .start(attempt: 2)])
  }

  @Test func `cancelling works in every state but the ends`() {
    var fresh = TransferMachine(.upload)
    #expect(fresh.cancel() == [.notify(.failure), .end])
    var running = Self.running(.download)
    #expect(running.cancel() == [.stop, .notify(.failure), .end])
    #expect(running.status == .failure)
    #expect(running.cancel() == [])
    var paused = Self.running(.upload)
    _ = paused.pause()
    _ = paused.stopped(attempt: 1)
    #expect(paused.cancel() == [.notify(.failure), .end])
  }

  @Test func `late observers are called by the state, but not after a cancellation`() {
    let running = Self.running(.upload)
    #expect(running.replays(.resume) && running.replays(.progress))
    #expect(!running.replays(.pause) && !running.replays(.success) && !running.replays(.failure))
    var paused = running
    _ = paused.pause()
    #expect(paused.replays(.pause) && !paused.replays(.resume) && !paused.replays(.progress))
    var done = running
    _ = done.succeeded(attempt: 1)
    #expect(done.replays(.success) && !done.replays(.progress))
    var failed = running
    _ = failed.failed(attempt: 1)
    _ = failed.cleanedUp()
    #expect(failed.replays(.failure))
    var cancelled = running
    _ = cancelled.cancel()
    #expect(!cancelled.replays(.failure))
  }

  @Test func `whatever is called in whatever order, there is one attempt and one end`() {
    for seed in 0..<2000 as Range<UInt64> {
      var random = SplitMix(seed: seed)
      var machine = TransferMachine(random.oneIn(2) ? .upload : .download)
      var started = 0, ends = 0, stopped: Set<Int> = []
      for _ in 0..<40 {
        let attempt = started - random.below(2)
        let actions: [Action] =
          switch random.below(11) {
          case 0: machine.enqueue()
          case 1: machine.pause()
          case 2: machine.resume()
          case 3: machine.cancel()
          case 4: machine.began(attempt: attempt)
          case 5: machine.progressed(attempt: attempt)
          case 6: machine.stopped(attempt: attempt)
          case 7: machine.succeeded(attempt: attempt)
          case 8: machine.failed(attempt: attempt)
          case 9: machine.cleanedUp()
          default: publish(&machine, attempt, isStopped: stopped.contains(attempt), seed)
          }
        for action in actions {
          switch action {
          case .start(let number):
            #expect(number == started + 1, "seed \(seed)")
            started = number
          case .stop: stopped.insert(started)
          case .cleanUp: #expect(ends == 0, "seed \(seed)")
          case .end: ends += 1
          case .notify: #expect(ends == 0, "seed \(seed): nothing is observed after the end")
          }
        }
        #expect((ends == 1) == machine.isOver, "seed \(seed)")
      }
      #expect(ends <= 1, "seed \(seed)")
    }
  }

  private func publish(
    _ machine: inout TransferMachine, _ attempt: Int, isStopped: Bool, _ seed: UInt64
  ) -> [Action] {
    if machine.mayPublish(attempt: attempt) { #expect(!isStopped, "seed \(seed): a stopped attempt publishes nothing") }
    return []
  }
}
