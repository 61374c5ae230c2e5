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
  name: "AuthConsumer",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../../Packages/Auth"),
    .package(path: "../../../Packages/Core"),
    .package(path: "../../../Packages/Crypto"),
    .package(path: "../../../Packages/SQLite"),
  ],
  targets: [
    .executableTarget(
      name: "AuthConsumer",
      dependencies: [
        .product(name: "VestaAuth", package: "Auth"),
        .product(name: "VestaAuthService", package: "Auth"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaSQLite", package: "SQLite"),
      ],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
