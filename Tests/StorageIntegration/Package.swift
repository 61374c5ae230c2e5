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
  name: "StorageIntegration",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Crypto"),
    .package(path: "../../Packages/SQLite"),
    .package(path: "../../Packages/Storage"),
    .package(path: "../../Interop/AuthInterop"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StorageBackend"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Interop/TransportInterop"),
  ],
  targets: [
    .target(
      name: "StorageHarness",
      dependencies: [
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaStorage", package: "Storage"),
        .product(name: "VestaStorageService", package: "Storage"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
        .product(name: "VestaStorageBackendFakes", package: "StorageBackend"),
        .product(name: "VestaStorageEndpoints", package: "Storage"),
        .product(name: "VestaStorageRemote", package: "Storage"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "StorageOracle",
      dependencies: [
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaStorage", package: "Storage"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "StorageCrashWorker",
      dependencies: [
        "StorageHarness",
        "StorageOracle",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaStorage", package: "Storage"),
        .product(name: "VestaStorageService", package: "Storage"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "StorageIntegrationTests",
      dependencies: [
        "StorageHarness",
        "StorageCrashWorker",
        "StorageOracle",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaAuthInterop", package: "AuthInterop"),
        .product(name: "VestaAuthInteropFakes", package: "AuthInterop"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropCrashTesting", package: "StoreInterop"),
        .product(name: "VestaStorage", package: "Storage"),
        .product(name: "VestaStorageService", package: "Storage"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStorageBackendContracts", package: "StorageBackend"),
        .product(name: "VestaStorageBackendFakes", package: "StorageBackend"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "StorageUpstreamTests",
      dependencies: [
        "StorageHarness",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaStorage", package: "Storage"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
