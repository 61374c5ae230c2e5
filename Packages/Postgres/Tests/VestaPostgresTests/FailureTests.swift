import Testing
import VestaStoreInterop

@testable import VestaPostgres

/// Whether a failure may pass, and which error a caller gets for it; no server is needed.
@Suite struct FailureTests {
  private func properties(of failure: PostgresFailure) -> Set<String> {
    let all = [
      "conflict": failure.isConflict, "lock timeout": failure.isLockTimeout, "passing": failure.isPassing,
      "uncertain": failure.isUncertain, "another host": failure.allowsAnotherHost,
    ]
    return Set(all.filter(\.value).keys)
  }

  @Test func `a failure says whether the same again may succeed, and whether it was done all the same`() {
    let expected: [(PostgresFailure, Set<String>)] = [
      (.lost(""), ["passing", "uncertain", "another host"]),
      (.unsent(""), ["passing", "another host"]),
      (.closed, ["uncertain"]),
      (.malformed(""), []),
    ]
    for (failure, properties) in expected { #expect(self.properties(of: failure) == properties, "\(failure)") }
  }

  @Test func `a refusal says by its code whether the same again may succeed`() {
    let expected: [(state: String, properties: Set<String>)] = [
      ("40001", ["conflict", "another host"]), ("40P01", ["conflict", "another host"]),
      ("55P03", ["conflict", "lock timeout", "another host"]), ("57014", ["conflict", "another host"]),
      ("57P01", ["passing", "uncertain", "another host"]), ("57P03", ["passing", "uncertain", "another host"]),
      ("08006", ["passing", "uncertain", "another host"]), ("53300", ["passing", "another host"]),
      ("25P03", ["passing", "another host"]), ("25P04", ["passing", "another host"]),
      ("25006", ["another host"]), ("23505", ["another host"]), ("28P01", []), ("28000", []), ("3D000", []),
    ]
    for (state, properties) in expected {
      #expect(self.properties(of: .refused(state: state, message: "")) == properties, "\(state)")
    }
  }

  @Test func `a refusal becomes the error of a store that says what to do`() {
    let expected: [(state: String, code: StoreError.Code, hint: String?)] = [
      ("40001", .conflict, nil), ("40P01", .conflict, nil), ("55P03", .conflict, nil), ("53100", .diskFull, nil),
      ("53200", .diskFull, nil), ("54000", .diskFull, nil), ("25006", .readOnly, "primary"),
      ("42501", .readOnly, "right to create"), ("XX001", .corrupt, nil), ("XX002", .corrupt, nil),
      ("57014", .inputOutput, "statement_timeout"), ("53300", .inputOutput, "max_connections"),
      ("28P01", .inputOutput, "password"), ("28000", .inputOutput, "password"), ("3D000", .inputOutput, "Create"),
      ("22012", .inputOutput, nil),
    ]
    for (state, code, hint) in expected {
      let error = StoreError(PostgresFailure.refused(state: state, message: "No."), operation: "read")
      #expect(error.code == code && error.message == "No. (SQLSTATE \(state))")
      #expect(hint.map { error.hint?.contains($0) == true } ?? (error.hint == nil), "\(state)")
    }
    #expect(StoreError(PostgresFailure.closed, operation: "read").code == .closed)
  }

  @Test func `the prefix of a schema has up to ten letters, digits and underscores`() async {
    /// The code of the error that opening ends with: after the prefix the connection string is looked at.
    func code(_ prefix: String) async -> StoreError.Code? {
      var options = PostgresOptions()
      (options.url, options.schemaPrefix) = ("user==1 =", prefix)
      let error = await #expect(throws: StoreError.self) {
        try await PostgresStore.open(
          named: "test", in: "x", options: options, storeOptions: StoreOptions(), followsServer: false)
      }
      return error?.code
    }
    for prefix in ["a", "z", "A", "Z", "0", "9", "_", "Vesta_2026"] {
      #expect(await code(prefix) == .inputOutput, "\(prefix)")
    }
    for prefix in ["", "eleven_char", "a-b", "a b", "ä", "a\"", "`", "{", "@", "[", "/", ":"] {
      #expect(await code(prefix) == .invalidName, "\(prefix)")
    }
  }

  @Test func `a value that is no number, or in no row, is nil`() {
    let rows = Rows(rows: [[[0, 0, 1, 2], nil, [], [UInt8](repeating: 0, count: 9)]])
    #expect((0..<5).map { rows.integer(0, $0) } == [258, nil, nil, nil, nil])
    #expect(rows.bytes(0, 0) == [0, 0, 1, 2] && rows.bytes(0, 2) == [])
    #expect(rows.integer(1, 0) == nil && rows.bytes(1, 0) == nil && rows.bytes(0, 1) == nil && rows.bytes(0, 4) == nil)
    #expect(Rows.integer([UInt8](repeating: 0xFF, count: 8)) == -1)
  }
}
