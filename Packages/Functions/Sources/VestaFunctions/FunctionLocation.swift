import VestaFunctionsBackend

/// The function of a callable, and its URL; pure.
struct FunctionLocation: Sendable, Hashable {
  /// The origin of the functions of an instance.
  struct Origin: Sendable, Hashable {
    var projectID: String
    var region: String
    var customDomain: String?
    var emulatorOrigin: String?
  }

  let target: FunctionTarget
  let url: String
  let region: String?

  /// A function by name.
  ///
  /// Its URL is on the emulator if there is one, else on the custom domain, else on the region's host.
  init(name: String, _ origin: Origin) {
    region = origin.region
    if let emulator = origin.emulatorOrigin {
      url = "\(emulator)/\(origin.projectID)/\(origin.region)/\(name)"
    } else if let domain = origin.customDomain {
      url = "\(domain)/\(name)"
    } else {
      url = "https://\(origin.region)-\(origin.projectID).cloudfunctions.net/\(name)"
    }
    target = origin.customDomain != nil && origin.emulatorOrigin == nil ? .url(url) : .name(name, region: origin.region)
  }

  /// A function by its URL, which is taken as it is.
  init(url: String) {
    self.url = url
    target = .url(url)
    region = nil
  }
}
