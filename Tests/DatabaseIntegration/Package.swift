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
  name: "DatabaseIntegration",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../Interop/DatabaseBackend"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Interop/TransportInterop"),
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Database"),
    .package(path: "../../Packages/SQLite"),
  ],
  targets: [
    .executableTarget(
      name: "DatabaseCrashWorker",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaDatabase", package: "Database"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseEndpoints", package: "Database"),
        .product(name: "VestaDatabaseModel", package: "Database"),
        .product(name: "VestaDatabaseRemote", package: "Database"),
        .product(name: "VestaDatabaseService", package: "Database"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "DatabaseIntegrationTests",
      dependencies: [
        "DatabaseCrashWorker",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropCrashTesting", package: "StoreInterop"),
        .product(name: "VestaDatabase", package: "Database"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseService", package: "Database"),
        .product(name: "VestaSQLite", package: "SQLite"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
