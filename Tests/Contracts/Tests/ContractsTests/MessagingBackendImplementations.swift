import Testing
import VestaMemoryStore
import VestaMessagingBackend
import VestaMessagingBackendContracts
import VestaMessagingService
import VestaTesting

@Suite struct MessagingBackendImplementations {
  static let all: [Implementation<MessagingSubject>] = [
    Implementation("MessagingEngine") {
      MessagingSubject(MessagingEngine(projectID: "p", senderID: "1") { MemoryStore() })
    }
  ]

  @Test(arguments: all)
  func `an implementation keeps every promise`(_ implementation: Implementation<MessagingSubject>) async {
    await implementation.keeps(MessagingContracts.all)
  }

  static let transports: [Implementation<PushTransportSubject>] = [
    Implementation("RecordingPushTransport") {
      let transport = RecordingPushTransport()
      transport.remove(address: "gone")
      return PushTransportSubject(transport, address: "here", missingAddress: "gone") {
        transport.pushes.filter { $0.address == "here" }.map(\.delivery.messageID)
      }
    }
  ]

  @Test(arguments: transports)
  func `a transport keeps every promise`(_ implementation: Implementation<PushTransportSubject>) async {
    await implementation.keeps(PushTransportContracts.all)
  }
}
