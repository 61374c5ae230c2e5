import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthService
import VestaTesting

/// The contract of imported passwords: the engine keeps it with real hashes, and for each promise there is a wrong
/// import that breaks it and nothing else.
@Suite(.timeLimit(.minutes(10))) struct PasswordImportImplementations {
  static func subject() -> PasswordImportSubject {
    let engine = AuthBackendImplementations.engine(RecordingCodeSender())
    return PasswordImportSubject(engine, engine.administration)
  }

  @Test func `the engine keeps every promise about imported passwords`() async {
    await Implementation("AuthEngine") { Self.subject() }.keeps(PasswordImportContracts.all)
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription, broken: String
    let change: @Sendable (ImportHash) -> ImportHash

    init(_ fault: String, breaks broken: String, change: @escaping @Sendable (ImportHash) -> ImportHash) {
      (testDescription, self.broken, self.change) = (fault, broken, change)
    }
  }

  @Test(arguments: faults) func `a wrong import breaks exactly its promise`(_ fault: Fault) async {
    let outcomes = await PasswordImportContracts.all.run {
      var subject = Self.subject()
      let good = subject.importUsers
      subject.importUsers = { request in
        var request = request
        request.hash = request.hash.map(fault.change)
        return try await good(request)
      }
      return subject
    }
    let broken = outcomes.filter { !$0.isKept }
    #expect(broken.map(\.name) == [fault.broken], "\(broken)")
    // The account is there, and its password does not sign in: an import that is refused breaks another rule.
    #expect(!broken.contains { $0.description.contains("was refused: ") }, "\(broken)")
  }

  @Test func `every promise has an import that breaks it`() {
    #expect(Set(PasswordImportContracts.all.map(\.name)) == Set(Self.faults.map(\.broken)))
  }

  static let faults: [Fault] = [
    Fault("forgets the separator of the salt", breaks: "the password of a hash by Firebase's scrypt signs in") { hash in
      guard case .scrypt(let key, _, let rounds, let cost) = hash else { return hash }
      return .scrypt(signerKey: key, saltSeparator: [], rounds: rounds, memoryCost: cost)
    },
    Fault(
      "doubles the cost", breaks: "the password of a hash by scrypt signs in, whatever the length of the hash"
    ) { hash in
      guard case .standardScrypt(let cost, let size, let parallelism) = hash else { return hash }
      return .standardScrypt(costLog2: cost + 1, blockSize: size, parallelism: parallelism)
    },
    Fault("takes SHA-1", breaks: "the password of a hash by PBKDF2 with SHA-256 signs in") { hash in
      guard case .pbkdf2SHA256(let rounds) = hash else { return hash }
      return .pbkdf2SHA1(rounds: rounds)
    },
    Fault("takes SHA-256", breaks: "the password of a hash by PBKDF2 with SHA-1 signs in") { hash in
      guard case .pbkdf2SHA1(let rounds) = hash else { return hash }
      return .pbkdf2SHA256(rounds: rounds)
    },
    Fault(
      "always has the salt first", breaks: "the password of a hash by HMAC signs in, for each digest and order"
    ) { hash in
      guard case .hmac(let digest, let key, let mixing) = hash else { return hash }
      return .hmac(digest, signerKey: key, ImportHash.Mixing(separator: mixing.separator))
    },
    Fault(
      "digests once", breaks: "the password of a hash by a repeated digest signs in, for each digest and order"
    ) { hash in
      guard case .digest(let digest, _, let mixing) = hash else { return hash }
      return .digest(digest, rounds: 1, mixing)
    },
    Fault("takes bcrypt for bytes", breaks: "the password of a hash by bcrypt signs in") { hash in
      hash == .bcrypt ? .pbkdf2SHA256(rounds: 7) : hash
    },
  ]
}
