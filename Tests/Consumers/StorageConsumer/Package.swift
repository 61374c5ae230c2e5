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
  name: "StorageConsumer",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../../Packages/Core"),
    .package(path: "../../../Packages/Crypto"),
    .package(path: "../../../Packages/SQLite"),
    .package(path: "../../../Packages/Storage"),
  ],
  targets: [
    .executableTarget(
      name: "StorageConsumer",
      dependencies: [
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaStorage", package: "Storage"),
        .product(name: "VestaStorageService", package: "Storage"),
      ],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
