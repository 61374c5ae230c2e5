/// Published test vectors: RFC 8291, section 5 and appendix A; McGrew and Viega, test cases 1 to 4.
enum AgreementVectors {
  static let senderPrivate = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
  static let senderPublic = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
  static let receiverPrivate = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
  static let receiverPublic = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
  static let authentication = "BTBZMqHH6r4Tts7J_aSIgg"
  static let sharedSecret = "kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"
  static let inputKey = "S4lYMb_L0FxCeq0WhDx813KgSYqU26kOyzWUdsXYyrg"

  struct Sealed {
    let key: String
    let nonce: String
    var context = ""
    let plaintext: String
    let sealed: String
  }

  static let sealed = [
    Sealed(key: zeros(32), nonce: zeros(24), plaintext: "", sealed: "58e2fccefa7e3061367f1d57a4e7455a"),
    Sealed(
      key: zeros(32), nonce: zeros(24), plaintext: zeros(32),
      sealed: "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf"),
    Sealed(
      key: "feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888", plaintext: text + "1aafd255",
      sealed: ciphertext + "473f5985" + "4d5c2af327cd64a62cf35abd2ba6fab4"),
    Sealed(
      key: "feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888",
      context: "feedfacedeadbeeffeedfacedeadbeefabaddad2", plaintext: text,
      sealed: ciphertext + "5bc94fbc3221a5db94fae95ae7121a47"),
  ]

  private static let text =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"

  private static let ciphertext =
    "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
    + "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"

  private static func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
}
