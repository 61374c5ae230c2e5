/// Distinguishes the addresses of the public internet from addresses of a machine, of a private network, and of no
/// host; pure.
public enum InternetAddress {
  /// Whether an address is one of a host of the public internet.
  ///
  /// An IPv6 address that has an IPv4 address in it (RFC 4291, 6052, 3056) is as public as that one.
  ///
  /// - Parameter bytes: The address: 4 bytes or 16.
  public static func isPublic(_ bytes: [UInt8]) -> Bool {
    switch bytes.count {
    case 4: !privateIPv4.contains { $0.contains(bytes) }
    case 16: isPublicIPv6(bytes)
    default: false
    }
  }

  private static func isPublicIPv6(_ bytes: [UInt8]) -> Bool {
    for (block, start) in embeddings where block.contains(bytes) { return isPublic(Array(bytes[start..<start + 4])) }
    return unicast.contains(bytes) && !privateIPv6.contains { $0.contains(bytes) }
  }

  /// The addresses whose first bits equal the bits of one address.
  private struct Block {
    let first: [UInt8]
    let length: Int

    init(_ first: [UInt8], _ length: Int) { (self.first, self.length) = (first, length) }

    func contains(_ bytes: [UInt8]) -> Bool {
      (0..<length).allSatisfy { bit in
        let mask = UInt8(0x80) >> UInt8(bit % 8)
        let expected = bit / 8 < first.count ? first[bit / 8] : 0
        return bytes[bit / 8] & mask == expected & mask
      }
    }
  }

  /// The special-purpose blocks of IPv4 (IANA, RFC 6890) with multicast and what is reserved.
  private static let privateIPv4 = [
    Block([0], 8), Block([10], 8), Block([100, 64], 10), Block([127], 8), Block([169, 254], 16), Block([172, 16], 12),
    Block([192, 0, 0], 24), Block([192, 0, 2], 24), Block([192, 88, 99], 24), Block([192, 168], 16),
    Block([198, 18], 15), Block([198, 51, 100], 24), Block([203, 0, 113], 24), Block([224], 4), Block([240], 4),
  ]

  /// The blocks of IPv6 with an IPv4 address, and its place: mapped, translated (NAT64), 6to4.
  private static let embeddings = [
    (Block([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 96), 12), (Block([0, 0x64, 0xFF, 0x9B], 96), 12),
    (Block([0x20, 0x02], 16), 2),
  ]

  /// The addresses of IPv6 that are given to hosts of the internet; local, unique local and multicast ones are others.
  private static let unicast = Block([0x20], 3)

  /// Protocol assignments with Teredo, and documentation.
  private static let privateIPv6 = [
    Block([0x20, 0x01, 0], 23), Block([0x20, 0x01, 0x0D, 0xB8], 32), Block([0x3F, 0xFF, 0], 20),
  ]
}
