/// One place where a connection can be tried: a host of the connection string, or an address of it.
struct ConnectionTarget: Sendable, Equatable {
  /// The name, which certificates are checked against, or the directory of a socket.
  var host: String?
  /// The address as a number; `nil` where the name is still to be looked up, and where libpq finds out by itself.
  var address: String?
  var port: String?
  /// The requirements of the server, in place of the connection string's.
  var session: String?

  /// Whether the host is a name that has to be looked up.
  var needsLookup: Bool {
    guard address == nil, let first = host?.utf8.first else { return false }
    // A directory, an abstract socket, or a number already.
    if first == UInt8(ascii: "/") || first == UInt8(ascii: "@") { return false }
    return host?.utf8.contains(UInt8(ascii: ":")) != true
      && host?.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".") }
        != true
  }

  /// The keywords for libpq that override the connection string.
  var keywords: [(String, String)] {
    [("host", host), ("hostaddr", address), ("port", port), ("target_session_attrs", session)].compactMap {
      name, value in
      value.map { (name, $0) }
    }
  }
}

/// The parts of a connection string that decide where to connect; pure.
///
/// libpq tries several hosts itself, but looks names up while its caller waits, and stays with a host that does not
/// answer. So each host is a separate attempt here, with a separate time-out.
struct ConnectionPlan: Sendable, Equatable {
  /// In the order of the attempts.
  let targets: [ConnectionTarget]
  /// How many seconds one attempt may take; `nil` where the string does not say.
  let timeout: Int?

  /// - Parameters:
  ///   - options: The keywords of the connection string, with their values.
  ///   - environment: A variable of the environment, which counts where the string is silent.
  init(_ options: [String: String], environment: (String) -> String?) {
    timeout = (options["connect_timeout"] ?? environment("PGCONNECT_TIMEOUT")).flatMap { Int($0) }.flatMap {
      $0 > 0 ? $0 : nil
    }
    // The content of a service file is known to libpq alone.
    if (options["service"] ?? environment("PGSERVICE")) != nil {
      targets = [ConnectionTarget()]
      return
    }
    let hosts = ConnectionPlan.list(options["host"] ?? environment("PGHOST"))
    let addresses = ConnectionPlan.list(options["hostaddr"] ?? environment("PGHOSTADDR"))
    let ports = ConnectionPlan.list(options["port"] ?? environment("PGPORT"))
    let count = max(hosts.count, addresses.count)
    let fits = { (list: [String]) in list.isEmpty || list.count == count }
    // Lists that do not fit are for libpq to refuse; without any host it has a default.
    guard count > 0, fits(hosts), fits(addresses), ports.count <= 1 || ports.count == count else {
      targets = [ConnectionTarget()]
      return
    }
    var all = (0..<count).map { index in
      ConnectionTarget(
        host: ConnectionPlan.part(hosts, index), address: ConnectionPlan.part(addresses, index),
        port: ConnectionPlan.part(ports, ports.count == 1 ? 0 : index))
    }
    if options["load_balance_hosts"] == "random" { all.shuffle() }
    // One host at a time there is nothing to prefer: all are asked for a standby first, then for anything.
    let session = options["target_session_attrs"] ?? environment("PGTARGETSESSIONATTRS")
    targets = session == "prefer-standby" ? all.map { $0.asking("standby") } + all.map { $0.asking("any") } : all
  }

  private static func list(_ text: String?) -> [String] {
    guard let text, !text.isEmpty else { return [] }
    return text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  private static func part(_ list: [String], _ index: Int) -> String? {
    guard list.indices.contains(index), !list[index].isEmpty else { return nil }
    return list[index]
  }
}

extension ConnectionTarget {
  func asking(_ session: String) -> ConnectionTarget {
    var target = self
    target.session = session
    return target
  }
}
