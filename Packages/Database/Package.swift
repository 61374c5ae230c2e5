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
  name: "Database",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaDatabase", targets: ["VestaDatabase"]),
    .library(name: "VestaDatabaseEndpoints", targets: ["VestaDatabaseEndpoints"]),
    .library(name: "VestaDatabaseModel", targets: ["VestaDatabaseModel"]),
    .library(name: "VestaDatabaseRemote", targets: ["VestaDatabaseRemote"]),
    .library(name: "VestaDatabaseService", targets: ["VestaDatabaseService"]),
    .library(name: "VestaDatabaseWire", targets: ["VestaDatabaseWire"]),
  ],
  dependencies: [
    .package(path: "../Core"),
    .package(path: "../../Interop/AppCheckInterop"),
    .package(path: "../../Interop/AuthInterop"),
    .package(path: "../../Interop/DatabaseBackend"),
    .package(path: "../../Interop/EngineInterop"),
    .package(path: "../../Interop/EventsInterop"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Interop/TransportInterop"),
  ],
  targets: [
    .target(
      name: "VestaDatabaseModel",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaDatabaseService",
      dependencies: [
        "VestaDatabaseModel",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaEngineInterop", package: "EngineInterop"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaDatabase",
      dependencies: [
        "VestaDatabaseModel",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaDataCoding", package: "Core"),
        .product(name: "VestaAppCheckInterop", package: "AppCheckInterop"),
        .product(name: "VestaAuthInterop", package: "AuthInterop"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaDatabaseWire",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaDatabaseEndpoints",
      dependencies: [
        "VestaDatabaseModel", "VestaDatabaseWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
        .product(name: "VestaFiles", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaDatabaseRemote",
      dependencies: [
        "VestaDatabaseWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaDatabaseRemoteTests",
      dependencies: [
        "VestaDatabaseEndpoints", "VestaDatabaseRemote", "VestaDatabaseService", "VestaDatabaseWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseBackendContracts", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseBackendFakes", package: "DatabaseBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaDatabaseEndpointsTests",
      dependencies: [
        "VestaDatabaseEndpoints", "VestaDatabaseModel", "VestaDatabaseService", "VestaDatabaseWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseBackendFakes", package: "DatabaseBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaDatabaseWireTests",
      dependencies: [
        "VestaDatabaseWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseBackendFakes", package: "DatabaseBackend"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaDatabaseModelTests",
      dependencies: [
        "VestaDatabaseModel",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseBackendFakes", package: "DatabaseBackend"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaDatabaseServiceTests",
      dependencies: [
        "VestaDatabaseModel", "VestaDatabaseService",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseBackendFakes", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseBackendContracts", package: "DatabaseBackend"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaDatabaseTests",
      dependencies: [
        "VestaDatabase", "VestaDatabaseEndpoints", "VestaDatabaseModel", "VestaDatabaseRemote", "VestaDatabaseService",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaAppCheckInterop", package: "AppCheckInterop"),
        .product(name: "VestaAppCheckInteropFakes", package: "AppCheckInterop"),
        .product(name: "VestaAuthInterop", package: "AuthInterop"),
        .product(name: "VestaAuthInteropFakes", package: "AuthInterop"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseBackendFakes", package: "DatabaseBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
