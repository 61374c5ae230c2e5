import Foundation
import Testing
import VestaAuth
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthService
import VestaCredentialInterop
import VestaCredentialInteropContracts
import VestaCredentialInteropFakes
import VestaTesting

@Suite struct CredentialImplementations {
  static let stores: [Implementation<CredentialStoreSubject>] = [
    Implementation("FakeCredentialStore") {
      let fake = FakeCredentialStore()
      return CredentialStoreSubject(
        fake, reopened: { fake }, damage: { fake.damage($0) }, setReadsFail: { fake.setFailsToRead($0) },
        setWritesFail: { fake.setFailsToWrite($0) })
    },
    Implementation("MemoryCredentialStore") { CredentialStoreSubject(MemoryCredentialStore()) },
    Implementation("FileCredentialStore") {
      let directory = try TemporaryDirectory("credentials")
      let open = { @Sendable in FileCredentialStore(directory: URL(filePath: directory.path)) }
      return CredentialStoreSubject(open(), reopened: { open() })
    },
  ]

  @Test(arguments: stores)
  func `a credential store keeps every promise`(_ implementation: Implementation<CredentialStoreSubject>) async {
    await implementation.keeps(CredentialStoreContracts.all)
  }

  static let senders: [Implementation<CodeSenderSubject>] = [
    Implementation("RecordingCodeSender") {
      let sender = RecordingCodeSender()
      return CodeSenderSubject(
        sender, arrivedEmails: { sender.recordedEmails.map { ($0.recipient, $0.link) } },
        arrivedTexts: { sender.recordedTexts.map { ($0.phoneNumber, $0.code) } })
    }
  ]

  @Test(arguments: senders)
  func `a code sender keeps every promise`(_ implementation: Implementation<CodeSenderSubject>) async {
    await implementation.keeps(CodeSenderContracts.all)
  }
}
