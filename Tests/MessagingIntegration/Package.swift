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
  name: "MessagingIntegration",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../Interop/TransportInterop"),
    .package(path: "../../Interop/InstallationsBackend"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Crypto"),
    .package(path: "../../Packages/Messaging"),
    .package(path: "../../Packages/RemoteConfig"),
    .package(path: "../../Packages/SQLite"),
    .package(path: "../../Interop/MessagingBackend"),
    .package(path: "../../Interop/RemoteConfigBackend"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StoreInterop"),
  ],
  targets: [
    .executableTarget(
      name: "MessagingCrashWorker",
      dependencies: [
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaMessaging", package: "Messaging"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaMessagingService", package: "Messaging"),
        .product(name: "VestaRemoteConfigBackend", package: "RemoteConfigBackend"),
        .product(name: "VestaRemoteConfigService", package: "RemoteConfig"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "MessagingIntegrationTests",
      dependencies: [
        "MessagingCrashWorker",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaMessaging", package: "Messaging"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaStoreInteropCrashTesting", package: "StoreInterop"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaMessagingService", package: "Messaging"),
        .product(name: "VestaRemoteConfigBackend", package: "RemoteConfigBackend"),
        .product(name: "VestaRemoteConfigService", package: "RemoteConfig"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaInstallationsBackend", package: "InstallationsBackend"),
        .product(name: "VestaInstallationsBackendFakes", package: "InstallationsBackend"),
        .product(name: "VestaMessagingEndpoints", package: "Messaging"),
        .product(name: "VestaMessagingRemote", package: "Messaging"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaMessagingPushTests",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaMessagingBackendContracts", package: "MessagingBackend"),
        .product(name: "VestaMessagingPush", package: "Messaging"),
        .product(name: "VestaMessagingService", package: "Messaging"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
