public import VestaCore

extension Functions {
  /// The region where none is named.
  static let defaultRegion = "us-central1"

  /// The functions of the default app.
  ///
  /// Stops the process when there is no default app, or no `FunctionsLibrary` among its libraries.
  public class func functions() -> Functions { instanceOrStop(of: nil) }

  /// The functions of an app.
  ///
  /// - Parameter app: The app.
  /// - Returns: Always the same object for the same app.
  public class func functions(app: VestaApp) -> Functions { functions(app: app, region: defaultRegion) }

  /// The functions of the default app in a region.
  ///
  /// - Parameter region: The region, such as `europe-west1`.
  public class func functions(region: String) -> Functions { instanceOrStop(of: nil, region: region) }

  /// The functions of the default app on a domain of one's own.
  ///
  /// - Parameter customDomain: The origin, such as `https://api.example.com`.
  public class func functions(customDomain: String) -> Functions {
    instanceOrStop(of: nil, customDomain: customDomain)
  }

  /// The functions of an app in a region.
  ///
  /// - Parameters:
  ///   - app: The app.
  ///   - region: The region.
  /// - Returns: Always the same object for the same app and region.
  public class func functions(app: VestaApp, region: String) -> Functions {
    instanceOrStop(of: app, region: region)
  }

  /// The functions of an app on a domain of one's own.
  ///
  /// - Parameters:
  ///   - app: The app.
  ///   - customDomain: The origin.
  /// - Returns: Always the same object for the same app and domain.
  public class func functions(app: VestaApp, customDomain: String) -> Functions {
    instanceOrStop(of: app, customDomain: customDomain)
  }

  /// The functions of an app, or why there are none.
  ///
  /// - Parameters:
  ///   - app: The app; `nil` for the default app.
  ///   - region: The region; `nil` for `us-central1`.
  ///   - customDomain: A domain of one's own.
  /// - Returns: Always the same object for the same app, region and domain.
  /// - Throws: `VestaError` with a sentence that says what to do.
  public class func instance(
    for app: VestaApp? = nil, region: String? = nil, customDomain: String? = nil
  ) throws(VestaError) -> Functions {
    let app = try VestaApp.appOrDefault(app)
    let key = FunctionsInstances.Key(region: region ?? defaultRegion, customDomain: customDomain)
    return try app.container.require(
      FunctionsInstances.self, providedBy: "FunctionsLibrary of VestaFunctions (Packages/Functions)"
    ).functions(of: app, key)
  }

  private class func instanceOrStop(
    of app: VestaApp?, region: String? = nil, customDomain: String? = nil
  ) -> Functions {
    do {
      return try instance(for: app, region: region, customDomain: customDomain)
    } catch {
      VestaApp.stop("Functions.functions(): \(error)")
    }
  }
}
