import VestaCore

extension VestaServer {
  /// The table for a person at the start: the services, and their addresses.
  public var table: String {
    let width = max(9, ports.map(\.name.count).max() ?? 0)
    let rows = ports.map { port in
      let name = port.name == ServerSettings.shared ? "all" : port.name
      let addresses = port.hosts.map { $0.contains(":") ? "[\($0)]:\(port.number)" : "\($0):\(port.number)" }
      return "  \(name)\(String(repeating: " ", count: width - name.count))  \(addresses.joined(separator: "  "))"
    }
    let data = settings.data.map { "in \($0)" } ?? "in memory, lost at the end"
    var lines = ["vesta \(VestaVersion()): project \(settings.project), data \(data)", ""] + rows
    if settings.isDevelopment {
      lines += ["", "For development: everyone who reaches these ports is believed. Stop with Control-C."]
      let open = ports.filter { port in !port.hosts.allSatisfy(ServerSettings.loopback.contains) }
      if !open.isEmpty {
        let names = open.count == ports.count ? "these ports are" : "\(open.map(\.name).joined(separator: ", ")) are"
        lines.append("Warning: \(names) not for this machine alone.")
      }
    }
    return lines.joined(separator: "\n")
  }
}
