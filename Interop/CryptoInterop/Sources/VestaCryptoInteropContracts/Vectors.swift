import VestaCryptoInterop

/// Published test vectors: RFC 1321, FIPS 180, RFC 2202, RFC 4231, RFC 3720.
enum Vectors {
  static let digests: [(DigestAlgorithm, String, String)] = [
    (
      .md5, "",
      "d41d8cd98f00b204e9800998ecf8427e"
    ),
    (
      .md5, "abc",
      "900150983cd24fb0d6963f7d28e17f72"
    ),
    (
      .md5, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "8215ef0796a20bcaaae116d3876c664a"
    ),
    (
      .sha1, "",
      "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    ),
    (
      .sha1, "abc",
      "a9993e364706816aba3e25717850c26c9cd0d89d"
    ),
    (
      .sha1, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
    ),
    (
      .sha256, "",
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    ),
    (
      .sha256, "abc",
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    ),
    (
      .sha256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      .sha512, "",
      "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
        + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
    ),
    (
      .sha512, "abc",
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    ),
    (
      .sha512, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "204a8fc6dda82f0a0ced7beb8e08a41657c16ef468b228a8279be331a703c335"
        + "96fd15c13b1b07f9aa1d3bea57789ca031ad85c7a71dd70354ec631238ca3445"
    ),
  ]

  static let keyedHashes: [(DigestAlgorithm, [UInt8], [UInt8], String)] = [
    (
      .sha256, repeated(0x0B, 20), bytes("Hi There"),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      .sha512, repeated(0x0B, 20), bytes("Hi There"),
      "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
        + "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"
    ),
    (
      .sha256, bytes("Jefe"), bytes("what do ya want for nothing?"),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      .sha512, bytes("Jefe"), bytes("what do ya want for nothing?"),
      "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
        + "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"
    ),
    (
      .sha256, repeated(0xAA, 20), repeated(0xDD, 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
    ),
    (
      .sha512, repeated(0xAA, 20), repeated(0xDD, 50),
      "fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39"
        + "bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb"
    ),
    (
      .sha256, Array(1...25), repeated(0xCD, 50),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
    ),
    (
      .sha512, Array(1...25), repeated(0xCD, 50),
      "b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3db"
        + "a91ca5c11aa25eb4d679275cc5788063a5f19741120c4f2de2adebeb10a298dd"
    ),
    (
      .sha256, repeated(0xAA, 131), bytes("Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
    (
      .sha512, repeated(0xAA, 131), bytes("Test Using Larger Than Block-Size Key - Hash Key First"),
      "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
        + "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598"
    ),
    (
      .md5, bytes("Jefe"), bytes("what do ya want for nothing?"),
      "750c783e6ab0b503eaa86e310a5db738"
    ),
    (
      .sha1, bytes("Jefe"), bytes("what do ya want for nothing?"),
      "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
    ),
  ]

  static let checksums: [([UInt8], UInt32)] = [
    ([], 0),
    (bytes("123456789"), 0xE306_9283),
    (repeated(0, 32), 0x8A91_36AA),
    (repeated(0xFF, 32), 0x62A8_AB43),
    (Array(0..<32), 0x46DD_794E),
    (Array((0..<32).reversed()), 0x113F_DB5C),
  ]
}
