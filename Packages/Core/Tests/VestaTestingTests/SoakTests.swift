import Testing
import VestaTesting

struct SoakTests {
  @Test func `histories have seeds in a row and begin until the time is over`() async {
    let soak = Soak("Tests", environment: ["VESTA_SECONDS": "3", "VESTA_SEED": "7"])
    var seconds = -1
    var seeds: [UInt64] = []
    let count = await soak.run {
      seconds += 1
      return .seconds(seconds)
    } _: { seed, number in
      #expect(number == seeds.count)
      seeds.append(seed)
    }
    #expect(seeds == [7, 8, 9])
    #expect(count == 3)
  }

  @Test func `without variables a soak lasts ten minutes from a random seed`() {
    #expect(Soak("Tests", environment: [:]).duration == .seconds(600))
    #expect(Soak("Tests", environment: [:]).firstSeed != Soak("Tests", environment: [:]).firstSeed)
  }

  @Test func `a soak with a goal ends when it is reached`() async {
    var seeds: [UInt64] = []
    let units = await Soak("Tests", environment: ["VESTA_SEED": "7"]).run(units: 25) { seed in
      seeds.append(seed)
      return 10
    }
    #expect(seeds == [7, 8, 9])
    #expect(units == 30)
  }

  @Test func `the time that the environment names is in force in place of a goal`() async {
    let soak = Soak("Tests", environment: ["VESTA_SECONDS": "0"])
    #expect(soak.isTimed)
    #expect(await soak.run(units: 25) { _ in 10 } == 0)
  }

  @Test func `an error ends a soak`() async {
    struct Stop: Error {}
    let soak = Soak("Tests", environment: ["VESTA_SECONDS": "3", "VESTA_SEED": "1"])
    await #expect(throws: Stop.self) { try await soak.run { _, _ in throw Stop() } }
  }
}
