import Testing
import VestaTransportInterop

@Suite struct InternetAddressTests {
  @Test(
    arguments: [
      ([8, 8, 8, 8], true), ([1, 1, 1, 1], true), ([172, 15, 0, 1], true), ([172, 32, 0, 1], true),
      ([100, 63, 255, 255], true), ([100, 128, 0, 0], true), ([198, 17, 0, 1], true), ([198, 20, 0, 1], true),
      ([223, 255, 255, 255], true), ([169, 253, 0, 1], true), ([192, 0, 1, 0], true),
      ([0, 0, 0, 0], false), ([0, 1, 2, 3], false), ([10, 0, 0, 1], false), ([127, 0, 0, 1], false),
      ([127, 255, 255, 255], false), ([169, 254, 169, 254], false), ([172, 16, 0, 1], false),
      ([172, 31, 255, 255], false), ([192, 168, 1, 1], false), ([100, 64, 0, 1], false), ([100, 127, 255, 255], false),
      ([198, 18, 0, 1], false), ([198, 19, 0, 1], false), ([192, 0, 0, 1], false), ([192, 0, 2, 1], false),
      ([203, 0, 113, 9], false), ([198, 51, 100, 1], false), ([224, 0, 0, 1], false), ([239, 1, 1, 1], false),
      ([240, 0, 0, 1], false), ([255, 255, 255, 255], false), ([], false), ([8, 8, 8], false),
      ([8, 8, 8, 8, 8], false),
    ] as [([UInt8], Bool)])
  func `an IPv4 address is public outside of the blocks for special purposes`(bytes: [UInt8], isPublic: Bool) {
    #expect(InternetAddress.isPublic(bytes) == isPublic)
  }

  @Test(
    arguments: [
      ([0x2606, 0x4700, 0, 0, 0, 0, 0, 0x1111], true), ([0x2001, 0x4860, 0, 0, 0, 0, 0, 0x8888], true),
      ([0x2001, 0x0200, 0, 0, 0, 0, 0, 1], true), ([0x3FFE, 0, 0, 0, 0, 0, 0, 1], true),
      ([0, 0, 0, 0, 0, 0, 0, 1], false), ([0, 0, 0, 0, 0, 0, 0, 0], false), ([0xFE80, 0, 0, 0, 0, 0, 0, 1], false),
      ([0xFC00, 0, 0, 0, 0, 0, 0, 1], false), ([0xFD12, 0x3456, 0, 0, 0, 0, 0, 1], false),
      ([0xFF02, 0, 0, 0, 0, 0, 0, 1], false), ([0xFEC0, 0, 0, 0, 0, 0, 0, 1], false),
      ([0x2001, 0x0DB8, 0, 0, 0, 0, 0, 1], false), ([0x2001, 0, 0x7F00, 1, 0, 0, 0, 1], false),
      ([0x3FFF, 0x0123, 0, 0, 0, 0, 0, 1], false),
      // IPv4 in IPv6: mapped, translated, 6to4.
      ([0, 0, 0, 0, 0, 0xFFFF, 0x7F00, 1], false), ([0, 0, 0, 0, 0, 0xFFFF, 0x0808, 0x0808], true),
      ([0x64, 0xFF9B, 0, 0, 0, 0, 0x0A00, 1], false), ([0x64, 0xFF9B, 0, 0, 0, 0, 0x0808, 0x0808], true),
      ([0x2002, 0xC0A8, 0x0101, 0, 0, 0, 0, 1], false), ([0x2002, 0x0808, 0x0808, 0, 0, 0, 0, 1], true),
      // Deprecated, and routed nowhere.
      ([0, 0, 0, 0, 0, 0, 0x7F00, 1], false),
    ] as [([UInt16], Bool)])
  func `an IPv6 address is public where it is one of a host of the internet`(groups: [UInt16], isPublic: Bool) {
    let bytes = groups.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    #expect(InternetAddress.isPublic(bytes) == isPublic)
  }
}
