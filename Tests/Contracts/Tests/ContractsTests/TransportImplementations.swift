import Testing
import VestaTesting
import VestaTransport
import VestaTransportInterop
import VestaTransportInteropContracts
import VestaTransportInteropFakes

@Suite(.serialized) struct TransportImplementations {
  static let all: [Implementation<TransportSubject>] = [
    Implementation("FakeNetwork") {
      let network = FakeNetwork()
      return TransportSubject(server: network, client: network, slack: 1 << 20)
    },
    Implementation("VestaTransport") {
      TransportSubject(server: try VestaTransportServer(loops: 1), client: try VestaTransportClient())
    },
  ]

  @Test(arguments: all)
  func `a transport keeps every promise`(_ implementation: Implementation<TransportSubject>) async {
    await implementation.keeps(TransportContracts.all)
  }

  @Test(arguments: all)
  func `a transport keeps every promise of gRPC`(_ implementation: Implementation<TransportSubject>) async {
    await implementation.keeps(GRPCContracts.all)
  }
}
