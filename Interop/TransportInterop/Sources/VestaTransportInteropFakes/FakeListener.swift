import VestaConcurrency
import VestaTesting
import VestaTransportInterop

/// A listener of a ``FakeNetwork``.
final class FakeListener: HTTPListener {
  let address: TransportAddress
  let handler: any HTTPHandler
  private let network: FakeNetwork
  private let ended = Locked(Waiters())

  init(address: TransportAddress, handler: any HTTPHandler, network: FakeNetwork) {
    self.address = address
    self.handler = handler
    self.network = network
  }

  func shutDown(within grace: Duration) async {
    network.remove(self)
    for exchange in network.exchanges(of: self) { exchange.goAway() }
    let error = TransportError(.connectionLost, "The server has shut down.")
    let cutOff: @Sendable () -> Void = { [network] in
      for exchange in network.exchanges(of: self) { exchange.fail(error) }
    }
    if grace <= .zero { cutOff() }
    let timer = network.clock.schedule(after: grace, cutOff)
    while true {
      await ended.wait(in: \.self) { _ in self.network.exchanges(of: self).isEmpty }
      if network.exchanges(of: self).isEmpty { break }
    }
    timer.cancel()
  }

  func hasEndedOne() { ended.withLock { $0.takeAll() }.resume() }
}
