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
  name: "Messaging",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaMessaging", targets: ["VestaMessaging"]),
    .library(name: "VestaMessagingService", targets: ["VestaMessagingService"]),
    .library(name: "VestaMessagingEndpoints", targets: ["VestaMessagingEndpoints"]),
    .library(name: "VestaMessagingPush", targets: ["VestaMessagingPush"]),
    .library(name: "VestaMessagingRemote", targets: ["VestaMessagingRemote"]),
    .library(name: "VestaMessagingWire", targets: ["VestaMessagingWire"]),
  ],
  dependencies: [
    .package(path: "../Core"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/EngineInterop"),
    .package(path: "../../Interop/InstallationsBackend"),
    .package(path: "../../Interop/MessagingBackend"),
    .package(path: "../../Interop/MessagingInterop"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Interop/TransportInterop"),
  ],
  targets: [
    .target(
      name: "VestaMessaging",
      dependencies: [
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaMessagingInterop", package: "MessagingInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaMessagingService",
      dependencies: [
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaEngineInterop", package: "EngineInterop"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaMessagingWire",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaMessagingEndpoints",
      dependencies: [
        "VestaMessagingWire",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaInstallationsBackend", package: "InstallationsBackend"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaMessagingRemote",
      dependencies: [
        "VestaMessagingWire",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaInstallationsBackend", package: "InstallationsBackend"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaMessagingPush",
      dependencies: [
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaMessagingRemoteTests",
      dependencies: [
        "VestaMessaging", "VestaMessagingEndpoints", "VestaMessagingRemote", "VestaMessagingService",
        "VestaMessagingWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaInstallationsBackend", package: "InstallationsBackend"),
        .product(name: "VestaInstallationsBackendFakes", package: "InstallationsBackend"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaMessagingBackendContracts", package: "MessagingBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaMessagingWireTests",
      dependencies: [
        "VestaMessagingWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaMessagingEndpointsTests",
      dependencies: [
        "VestaMessagingEndpoints", "VestaMessagingService", "VestaMessagingWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaInstallationsBackend", package: "InstallationsBackend"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaMessagingBackendFakes", package: "MessagingBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaMessagingTests",
      dependencies: [
        "VestaMessaging",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaMessagingBackendFakes", package: "MessagingBackend"),
        .product(name: "VestaMessagingInterop", package: "MessagingInterop"),
        .product(name: "VestaMessagingInteropContracts", package: "MessagingInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaMessagingServiceTests",
      dependencies: [
        "VestaMessagingService",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaMessagingBackendContracts", package: "MessagingBackend"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
