import Testing
import VestaCore

@Test func versionHasThreeParts() {
  #expect(VestaVersion().split(separator: ".").count == 3)
}
