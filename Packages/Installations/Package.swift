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
  name: "Installations",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaInstallationsService", targets: ["VestaInstallationsService"]),
    .library(name: "VestaInstallationsEndpoints", targets: ["VestaInstallationsEndpoints"]),
    .library(name: "VestaInstallationsRemote", targets: ["VestaInstallationsRemote"]),
    .library(name: "VestaInstallationsWire", targets: ["VestaInstallationsWire"]),
  ],
  dependencies: [
    .package(path: "../Core"),
    .package(path: "../../Interop/EngineInterop"),
    .package(path: "../../Interop/InstallationsBackend"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Interop/TransportInterop"),
  ],
  targets: [
    .target(
      name: "VestaInstallationsService",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaEngineInterop", package: "EngineInterop"),
        .product(name: "VestaInstallationsBackend", package: "InstallationsBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaInstallationsWire",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaInstallationsBackend", package: "InstallationsBackend"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaInstallationsEndpoints",
      dependencies: [
        "VestaInstallationsWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaInstallationsBackend", package: "InstallationsBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaInstallationsRemote",
      dependencies: [
        "VestaInstallationsWire",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaInstallationsBackend", package: "InstallationsBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaInstallationsWireTests",
      dependencies: [
        "VestaInstallationsWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaInstallationsBackend", package: "InstallationsBackend"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaInstallationsServiceTests",
      dependencies: [
        "VestaInstallationsService",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaInstallationsBackend", package: "InstallationsBackend"),
        .product(name: "VestaInstallationsBackendContracts", package: "InstallationsBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaInstallationsEndpointsTests",
      dependencies: [
        "VestaInstallationsEndpoints",
        "VestaInstallationsService",
        "VestaInstallationsWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaInstallationsBackend", package: "InstallationsBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaInstallationsRemoteTests",
      dependencies: [
        "VestaInstallationsEndpoints",
        "VestaInstallationsRemote",
        "VestaInstallationsService",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaInstallationsBackend", package: "InstallationsBackend"),
        .product(name: "VestaInstallationsBackendContracts", package: "InstallationsBackend"),
        .product(name: "VestaInstallationsBackendFakes", package: "InstallationsBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
