public import VestaCore

extension Storage {
  /// The storage of the default app's default bucket.
  ///
  /// An app without a bucket in its options has the bucket of its project, which is `PROJECT.appspot.com`, but on
  /// Firebase, where it may have another name. Stops the process when there is no default app, no `StorageLibrary`
  /// among its libraries, or, on Firebase, no bucket in its options.
  public class func storage() -> Storage { storage(app: defaultApp()) }

  /// The storage of a bucket of the default app.
  ///
  /// - Parameter url: `gs://` and the bucket, without a path.
  public class func storage(url: String) -> Storage { storage(app: defaultApp(), url: url) }

  /// The storage of an app's default bucket.
  ///
  /// - Parameter app: The app.
  /// - Returns: Always the same object for the same app.
  public class func storage(app: VestaApp) -> Storage {
    guard let bucket = app.options.storageBucket ?? usualBucket(of: app) else {
      VestaApp.stop(
        """
        No default Storage bucket found. Did you configure Firebase Storage properly? Set VestaOptions.storageBucket, \
        such as "shop.appspot.com", or name a bucket by Storage.storage(url:).
        """)
    }
    return instanceOrStop(of: app, bucket: bucket)
  }

  private static func usualBucket(of app: VestaApp) -> String? {
    guard app.options.backend.kind != .firebase else { return nil }
    return app.options.projectID.map { "\($0).appspot.com" }
  }

  /// The storage of a bucket.
  ///
  /// - Parameters:
  ///   - app: The app.
  ///   - url: `gs://` and the bucket, without a path; "" for references to any bucket.
  /// - Returns: Always the same object for the same app and bucket.
  public class func storage(app: VestaApp, url: String) -> Storage {
    // An empty URL is the root of no bucket: references to any bucket are accepted.
    guard !url.isEmpty else { return instanceOrStop(of: app, bucket: "") }
    guard let location = try? StorageLocation.parse(url), url.hasPrefix("gs://") else {
      VestaApp.stop("Internal error: URI must be in the form of gs://<bucket>/<path/to/object>")
    }
    guard location.path.isEmpty else {
      VestaApp.stop("Internal Error: Storage bucket cannot be initialized with a path")
    }
    return instanceOrStop(of: app, bucket: location.bucket)
  }

  /// The storage of a bucket, or why there is none.
  ///
  /// - Parameters:
  ///   - app: The app; `nil` for the default app.
  ///   - bucket: The bucket; `nil` for the bucket of the app's options.
  /// - Returns: Always the same object for the same app and bucket.
  /// - Throws: `VestaError` with a sentence that says what to do.
  public class func instance(for app: VestaApp? = nil, bucket: String? = nil) throws(VestaError) -> Storage {
    let app = try VestaApp.appOrDefault(app)
    guard let bucket = bucket ?? app.options.storageBucket else {
      throw VestaError(.notProvided, "The options have no storageBucket. Set it, or name a bucket.")
    }
    return try app.container.require(
      StorageInstances.self, providedBy: "StorageLibrary of VestaStorage (Packages/Storage)"
    ).storage(of: app, bucket: bucket)
  }

  private class func defaultApp() -> VestaApp {
    do {
      return try VestaApp.appOrDefault(nil)
    } catch {
      VestaApp.stop("Storage.storage(): \(error)")
    }
  }

  private class func instanceOrStop(of app: VestaApp, bucket: String) -> Storage {
    do {
      return try instance(for: app, bucket: bucket)
    } catch {
      VestaApp.stop("Storage.storage(): \(error)")
    }
  }
}
