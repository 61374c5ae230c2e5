public import VestaConcurrency
public import VestaTransportInterop

/// Notices changes of the machine's network, by netlink.
///
/// ```swift
/// let monitor = try VestaNetworkMonitor()
/// let registration = monitor.addChangeListener { client.closeIdleConnections() }
/// ```
public final class VestaNetworkMonitor: NetworkMonitor, Sendable {
  private let loop: EventLoop
  private let changes = ListenerRegistry<Void>()

  /// A monitor with a dedicated thread.
  ///
  /// - Throws: `TransportError` with `.exhausted` when the system has no socket or thread for it.
  public init(tuning: TransportTuning = TransportTuning()) throws {
    guard let descriptor = PlatformNetwork.changes() else {
      throw TransportError(.exhausted, "The system tells of no changes of its network.")
    }
    do { loop = try EventLoop(tuning) } catch {
      PlatformSocket.close(descriptor)
      throw error
    }
    let (loop, changes) = (loop, changes)
    loop.perform {
      let channel = NetworkChannel(descriptor, loop, changes)
      if !loop.add(channel, .readable) { PlatformSocket.close(descriptor) }
    }
  }

  /// Calls a listener at once after a change, and once more for the changes that follow until the network has settled.
  public func addChangeListener(_ onChange: @escaping @Sendable () -> Void) -> ListenerRegistration {
    changes.add { onChange() }
  }

  /// Ends the monitor and its calls.
  public func close() async { await loop.stop() }
}

/// The socket of the system's messages.
private final class NetworkChannel: Channel {
  private let loop: EventLoop
  private let changes: ListenerRegistry<Void>
  private var isSettling = false
  private var hasFurther = false

  init(_ descriptor: Int32, _ loop: EventLoop, _ changes: ListenerRegistry<Void>) {
    self.loop = loop
    self.changes = changes
    super.init(descriptor)
  }

  override func ready(_ events: PlatformPoll.Interest) {
    var isChanged = false
    reading: while true {
      switch PlatformSocket.read(descriptor, loop.readBuffer) {
      case .moved(let count) where count > 0:
        let bytes = UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count])
        if NetlinkMessages.tellOfChange(bytes) { isChanged = true }
      case .moved, .wouldBlock: break reading
      // Messages were lost because they were many: there are changes among them.
      case .broken:
        isChanged = true
        break reading
      }
    }
    if isChanged { changed() }
  }

  /// Announces the first change at once, so that a client waits for nothing.
  ///
  /// A network that is not ready yet is announced again, with the further changes that make it so.
  private func changed() {
    guard !isSettling else {
      hasFurther = true
      return
    }
    (isSettling, hasFurther) = (true, false)
    changes.emit(())
    loop.schedule(after: loop.tuning.networkSettling) { [self] in
      isSettling = false
      if hasFurther { changed() }
    }
  }
}
