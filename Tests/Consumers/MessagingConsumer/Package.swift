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
  name: "MessagingConsumer",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../../Packages/Messaging"),
    .package(path: "../../../Packages/Core"),
    .package(path: "../../../Packages/SQLite"),
    .package(path: "../../../Interop/MessagingBackend"),
    .package(path: "../../../Interop/ServiceInterop"),
  ],
  targets: [
    .executableTarget(
      name: "MessagingConsumer",
      dependencies: [
        .product(name: "VestaMessaging", package: "Messaging"),
        .product(name: "VestaMessagingService", package: "Messaging"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaSQLite", package: "SQLite"),
      ],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
