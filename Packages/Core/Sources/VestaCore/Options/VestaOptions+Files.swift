#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension VestaOptions {
  /// Reads the options from a file, as `init(file:packageName:)` does.
  ///
  /// - Parameter plistPath: The path of the file.
  /// - Returns: The options; `nil` when the file cannot be read (the log says why).
  public convenience init?(contentsOfFile plistPath: String) {
    do {
      try self.init(file: plistPath)
    } catch {
      Logger(service: "VestaCore").error("I-COR000004", "The options could not be read. \(error)")
      return nil
    }
  }

  /// Reads the options from a `GoogleService-Info.plist` or a `google-services.json`, distinguished by the file
  /// extension.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - packageName: Which app of a `google-services.json` is meant; `nil` for the first one.
  /// - Throws: `VestaError` with the code `.optionsFileUnreadable`, `.optionsFileMalformed` or `.invalidOption`, and
  ///   the path and the field in its message.
  public convenience init(file path: String, packageName: String? = nil) throws(VestaError) {
    let data: Data
    do {
      data = try Data(contentsOf: URL(filePath: path))
    } catch {
      throw VestaError(
        .optionsFileUnreadable, "The options file \(path) cannot be read. Check the path and its permissions.",
        underlying: error)
    }
    if path.hasSuffix(".json") {
      self.init(values: try Self.values(servicesJSON: data, path: path, packageName: packageName))
    } else {
      self.init(values: try Self.values(servicesPropertyList: data, path: path))
    }
  }

  /// Reads a `GoogleService-Info.plist`.
  static func values(servicesPropertyList data: Data, path: String) throws(VestaError) -> Values {
    let file: ServicesPropertyList
    do {
      file = try PropertyListDecoder().decode(ServicesPropertyList.self, from: data)
    } catch {
      throw malformed(path, "a property list with texts in it", error)
    }
    var values = Values()
    values.googleAppID = try required(file.GOOGLE_APP_ID, "GOOGLE_APP_ID", path)
    values.gcmSenderID = try required(file.GCM_SENDER_ID, "GCM_SENDER_ID", path)
    values.projectID = file.PROJECT_ID
    values.apiKey = file.API_KEY
    values.clientID = file.CLIENT_ID
    values.databaseURL = file.DATABASE_URL
    values.storageBucket = file.STORAGE_BUCKET
    values.bundleID = file.BUNDLE_ID ?? values.bundleID
    return values
  }

  /// Reads a `google-services.json`.
  static func values(servicesJSON data: Data, path: String, packageName: String?) throws(VestaError) -> Values {
    let file: ServicesJSON
    do {
      file = try JSONDecoder().decode(ServicesJSON.self, from: data)
    } catch {
      throw malformed(path, "a google-services.json", error)
    }
    let apps = file.client ?? []
    let wanted = packageName.map { name in
      apps.first { $0.client_info?.android_client_info?.package_name == name }
    }
    guard let app = wanted ?? apps.first else {
      throw VestaError(.invalidOption, "The options file \(path) has no app in \"client\". Download it again.")
    }
    var values = Values()
    values.googleAppID = try required(app.client_info?.mobilesdk_app_id, "client_info.mobilesdk_app_id", path)
    values.gcmSenderID = try required(file.project_info?.project_number, "project_info.project_number", path)
    values.projectID = try required(file.project_info?.project_id, "project_info.project_id", path)
    values.databaseURL = file.project_info?.firebase_url
    values.storageBucket = file.project_info?.storage_bucket
    values.apiKey = app.api_key?.first?.current_key
    values.clientID = app.oauth_client?.first?.client_id
    values.bundleID = app.client_info?.android_client_info?.package_name ?? values.bundleID
    return values
  }

  private static func required(_ value: String?, _ field: String, _ path: String) throws(VestaError) -> String {
    guard let value, !value.isEmpty else {
      throw VestaError(.invalidOption, "The options file \(path) lacks \(field). Download it again, or add the field.")
    }
    return value
  }

  private static func malformed(_ path: String, _ what: String, _ error: any Error) -> VestaError {
    VestaError(.optionsFileMalformed, "The options file \(path) is not \(what). Download it again.", underlying: error)
  }
}

// The names are those in the files.
// swift-format-ignore: AlwaysUseLowerCamelCase
private struct ServicesPropertyList: Decodable {
  var GOOGLE_APP_ID: String?
  var GCM_SENDER_ID: String?
  var PROJECT_ID: String?
  var API_KEY: String?
  var CLIENT_ID: String?
  var DATABASE_URL: String?
  var STORAGE_BUCKET: String?
  var BUNDLE_ID: String?
}

// swift-format-ignore: AlwaysUseLowerCamelCase
private struct ServicesJSON: Decodable {
  struct Project: Decodable {
    var project_number: String?
    var project_id: String?
    var firebase_url: String?
    var storage_bucket: String?
  }
  struct App: Decodable {
    struct Info: Decodable {
      struct Android: Decodable { var package_name: String? }
      var mobilesdk_app_id: String?
      var android_client_info: Android?
    }
    struct OAuthClient: Decodable { var client_id: String? }
    struct Key: Decodable { var current_key: String? }
    var client_info: Info?
    var oauth_client: [OAuthClient]?
    var api_key: [Key]?
  }
  var project_info: Project?
  var client: [App]?
}
