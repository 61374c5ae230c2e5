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
  name: "Storage",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaStorage", targets: ["VestaStorage"]),
    .library(name: "VestaStorageEndpoints", targets: ["VestaStorageEndpoints"]),
    .library(name: "VestaStorageRemote", targets: ["VestaStorageRemote"]),
    .library(name: "VestaStorageService", targets: ["VestaStorageService"]),
    .library(name: "VestaStorageWire", targets: ["VestaStorageWire"]),
  ],
  dependencies: [
    .package(path: "../Core"),
    .package(path: "../../Interop/AppCheckInterop"),
    .package(path: "../../Interop/AuthInterop"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/EngineInterop"),
    .package(path: "../../Interop/EventsInterop"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StorageBackend"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Interop/TransportInterop"),
  ],
  targets: [
    .target(
      name: "VestaStorage",
      dependencies: [
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaAppCheckInterop", package: "AppCheckInterop"),
        .product(name: "VestaAuthInterop", package: "AuthInterop"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaStorageService",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaEngineInterop", package: "EngineInterop"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaStorageEndpoints",
      dependencies: [
        "VestaStorageWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaStorageTests",
      dependencies: [
        "VestaStorage",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaStorageServiceTests",
      dependencies: [
        "VestaStorage", "VestaStorageEndpoints", "VestaStorageRemote", "VestaStorageService", "VestaStorageWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaCryptoInteropFakes", package: "CryptoInterop"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
        .product(name: "VestaStorageBackendContracts", package: "StorageBackend"),
        .product(name: "VestaStorageBackendFakes", package: "StorageBackend"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaStorageRemote",
      dependencies: [
        "VestaStorageWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaStorageWire",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaStorageWireTests",
      dependencies: [
        "VestaStorageWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
