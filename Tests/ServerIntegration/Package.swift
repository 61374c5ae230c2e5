// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "ServerIntegration",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Server"),
  ],
  targets: [
    .testTarget(
      name: "ServerIntegrationTests",
      dependencies: [
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "vesta", package: "Server"),
      ],
      resources: [
        .copy("auth_admin.py"), .copy("cases.py"), .copy("config_rest.py"), .copy("database_client.py"),
        .copy("database_crash.py"), .copy("database_rules.py"), .copy("export.py"), .copy("firestore_client.py"),
        .copy("firestore_rest.py"), .copy("firestore_crash.py"), .copy("firestore_resume.py"),
        .copy("firestore_listen.py"),
        .copy("functions_http.py"), .copy("firestore_streams.py"), .copy("firestore_webchannel.py"),
        .copy("storage_client.py"), .copy("storage_walk.py"), .copy("rules_calls.py"), .copy("together.py"),
        .copy("messaging_admin.py"),
        .copy("push_service.py"),
        .copy("app_check_admin.py"), .copy("hostile.py"), .copy("triggers.py"),
        .copy("tls.py"), .copy("blocking.py"), .copy("named_rules.py"), .copy("browser.py"),
        .copy("browser_passkeys.py"), .copy("tabs.py"),
        .copy("app_check_enforced.py"), .copy("firestore_admin.py"), .copy("goes_on.py"),
        .copy("admin_auth_walk.py"), .copy("admin_walk.py"), .copy("firestore_walk.py"), .copy("browser_sign_in.py"),
        .copy("web_shapes.py"),
      ],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
