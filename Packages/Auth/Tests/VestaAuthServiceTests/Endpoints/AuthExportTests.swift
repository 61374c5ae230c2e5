import Testing
import VestaBytes
import VestaTesting

@testable import VestaAuthEndpoints

/// The files of accounts in exports.
@Suite struct AuthExportTests {
  private static let file = #"""
    {"kind":"users", "other":[{"a":1}],
     "users": [ {"localId":"a","displayName":"}]{[\"\\"}, {"localId":"b","list":[{"x":"users"}]}
     ], "after":{"users":[{"no":1}]}}
    """#

  @Test(arguments: [1, 2, 3, 7, 1_000]) func `accounts are found in parts of any size`(size: Int) throws {
    var reader = AccountsFile()
    var found: [String?] = []
    let bytes = Array(Self.file.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      for account in try reader.accounts(in: Array(bytes[start..<min(bytes.count, start + size)])) {
        found.append(try JSONObject(json: account)["localId"]?.string)
      }
    }
    try reader.finish()
    #expect(found == ["a", "b"])
  }

  @Test func `a file that ends early, and an account that is too long, are errors`() throws {
    var short = AccountsFile()
    _ = try short.accounts(in: Array(Self.file.utf8.dropLast(3)))
    #expect(throws: BytesError.self) { try short.finish() }
    var long = AccountsFile(limit: 20)
    #expect(throws: BytesError.self) { try long.accounts(in: Array(Self.file.utf8)) }
    var closed = AccountsFile()
    #expect(throws: BytesError.self) { try closed.accounts(in: Array("}".utf8)) }
  }

  @Test func `a password of the suite is read in clear text, and a hash of Vesta's stays`() {
    let suite: JSONObject = [
      "localId": "a", "salt": "fakeSaltX", "passwordHash": "fakeHash:salt=fakeSaltX:password=a:password=b",
    ]
    let imported = ExportedAccount.imported(suite)
    #expect(imported["rawPassword"] == "a:password=b" && imported["passwordHash"] == nil && imported["salt"] == nil)
    let own: JSONObject = ["localId": "a", "passwordHash": "JHNjcnlwdA=="]
    #expect(ExportedAccount.imported(own) == own)
  }
}
