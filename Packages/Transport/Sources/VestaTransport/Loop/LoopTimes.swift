import VestaTransportInterop

/// Time-outs in nanoseconds, computed once: they are added to the time with each request.
struct LoopTimes {
  let jobs: Int64
  let head: Int64
  let body: Int64
  let idle: Int64
  let write: Int64
  let linger: Int64
  let sweep: Int64
  let clientIdle: Int64
  let pingInterval: Int64
  let pingTimeout: Int64

  init(_ tuning: TransportTuning) {
    jobs = tuning.jobsTime.nanoseconds
    head = tuning.headTimeout.nanoseconds
    body = tuning.bodyTimeout.nanoseconds
    idle = tuning.idleTimeout.nanoseconds
    write = tuning.writeTimeout.nanoseconds
    linger = tuning.lingerTimeout.nanoseconds
    sweep = tuning.sweepInterval.nanoseconds
    clientIdle = tuning.clientIdleTimeout.nanoseconds
    pingInterval = tuning.http2PingInterval.nanoseconds
    pingTimeout = tuning.http2PingTimeout.nanoseconds
  }
}

extension Duration {
  /// The length in nanoseconds; the longest that 62 bits hold for a longer one, so that adding the time fits.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    guard seconds < 4_000_000_000 else { return Int64.max / 2 }
    return max(0, seconds) * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
