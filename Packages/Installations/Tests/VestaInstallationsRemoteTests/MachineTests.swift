import Testing
import VestaConcurrency
import VestaInstallationsBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaInstallationsRemote

/// When an installation is created, renewed, given up and left alone.
@Suite struct MachineTests {
  private static let hour: Int64 = 3_600_000_000

  private var tuning: InstallationKeeperTuning {
    var tuning = InstallationKeeperTuning()
    tuning.retry.jitter = .none
    return tuning
  }

  private func made(_ id: String = "i", hours: Int = 3) -> CreatedInstallation {
    CreatedInstallation(
      id: id, refreshToken: "r", token: InstallationToken(text: "t", lifetime: .seconds(3_600 * hours)))
  }

  private func failure(_ code: ServiceCode) -> InstallationsServiceError { InstallationsServiceError(code, "no") }

  @Test func `a token is renewed when an hour is left, and when a clock was set back`() throws {
    var machine = InstallationMachine(tuning: tuning)
    #expect(machine.need(now: 0) == .create)
    let record = machine.created(made(), now: Self.hour)
    #expect(machine.need(now: Self.hour) == .nothing(record))
    #expect(machine.need(now: 3 * Self.hour - 1) == .nothing(record))
    #expect(machine.need(now: 3 * Self.hour) == .renew(record))
    #expect(machine.need(now: Self.hour - 1) == .renew(record))
    let renewed = machine.renewed(
      record, InstallationToken(text: "u", lifetime: .seconds(7_201)), now: 3 * Self.hour)
    #expect(renewed?.token == "u" && renewed?.refreshToken == "r")
    #expect(machine.need(now: 3 * Self.hour) == renewed.map { .nothing($0) })
  }

  @Test(arguments: [ServiceCode.unauthenticated, .notFound])
  func `an installation that the service no longer knows is given up`(code: ServiceCode) {
    var machine = InstallationMachine(tuning: tuning)
    let record = machine.created(made(hours: 0), now: 0)
    let verdict = machine.failed(failure(code), isRenewal: true, isSecond: false, now: 0, random: 0)
    #expect(verdict == .createAnother)
    #expect(machine.need(now: 0) == .create)
    // A renewal that ends after that brings nothing back.
    let late = machine.renewed(record, InstallationToken(text: "u", lifetime: .seconds(9_999)), now: 0)
    #expect(late == nil)
    #expect(machine.need(now: 0) == .create)
  }

  @Test(arguments: [ServiceCode.invalidArgument, .permissionDenied, .failedPrecondition, .outOfRange])
  func `a request that was refused for good is not made again for a day`(code: ServiceCode) {
    var machine = InstallationMachine(tuning: tuning)
    let verdict = machine.failed(failure(code), isRenewal: false, isSecond: false, now: 5, random: 0)
    #expect(verdict == .fail)
    let end = 24 * Self.hour + 5
    #expect(machine.need(now: end - 1) == .pause(until: end, failure(code)))
    #expect(machine.need(now: end) == .create)
    // A clock that was set back does not make the pause longer than a day.
    #expect(machine.need(now: -1) == .create)
  }

  @Test func `other failures are tried once more at once, and then after growing pauses`() {
    var machine = InstallationMachine(tuning: tuning)
    var (now, pauses): (Int64, [Int64]) = (0, [])
    for _ in 0..<13 {
      let first = machine.failed(failure(.unavailable), isRenewal: false, isSecond: false, now: now, random: 0)
      let second = machine.failed(failure(.unavailable), isRenewal: false, isSecond: true, now: now, random: 0)
      #expect(first == .tryAgain && second == .fail)
      guard case .pause(let end, _) = machine.need(now: now) else { break }
      pauses.append((end - now) / 1_000_000)
      now = end
    }
    #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_800, 1_800])
    _ = machine.created(made(hours: 0), now: now)
    let verdict = machine.failed(failure(.internal), isRenewal: true, isSecond: true, now: now, random: 0)
    #expect(verdict == .fail)
    guard case .pause(let end, _) = machine.need(now: now) else { return #expect(Bool(false), "no pause") }
    #expect(end - now == 1_000_000)
  }

  @Test func `too many requests and a lost answer are not tried again at once, and a longer pause counts`() {
    for code in [ServiceCode.resourceExhausted, .deadlineExceeded] {
      var machine = InstallationMachine(tuning: tuning)
      let error = InstallationsServiceError(ServiceStatus(code, "no", details: [.retryInfo(after: .seconds(90))]))
      let verdict = machine.failed(error, isRenewal: false, isSecond: false, now: 0, random: 0)
      #expect(verdict == .fail)
      #expect(machine.need(now: 0) == .pause(until: 90_000_000, error))
    }
  }

  @Test func `a refused token is renewed, and one of before changes nothing`() {
    var machine = InstallationMachine(tuning: tuning)
    _ = machine.created(made(), now: 0)
    let changes = ["old", "t", "t"].map { machine.tokenWasRefused($0) }
    #expect(changes == [false, true, false])
    guard case .renew = machine.need(now: 0) else { return #expect(Bool(false), "no renewal") }
  }
}
